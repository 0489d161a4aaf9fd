-- Run once, by PostgreSQL's image when it creates the database: the role that web, the loop and Celery connect as. It has no
-- permissions until `manage.py grant_runtime_role`, run after each migration, grants it what the service needs.
\getenv password RUNTIME_DB_PASSWORD
CREATE ROLE sweepapi_runtime LOGIN PASSWORD :'password';
