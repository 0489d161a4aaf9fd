-- Run once, by PostgreSQL's image when it makes the database: the role that web, worker and beat connect as. It may do nothing
-- until `manage.py grant_runtime_role`, after each migration, grants it what the service needs.
\getenv password RUNTIME_DB_PASSWORD
CREATE ROLE sweepapi_runtime LOGIN PASSWORD :'password';
