-- Run once, by PostgreSQL's image when it creates the database: the roles that the service and its console connect as. They have no
-- permissions until `manage.py grant_runtime_role`, run after each migration, grants them what they need.
\getenv runtime_password RUNTIME_DB_PASSWORD
\getenv console_password CONSOLE_DB_PASSWORD
CREATE ROLE sweepapi_runtime LOGIN PASSWORD :'runtime_password';
CREATE ROLE sweepapi_console LOGIN PASSWORD :'console_password';
