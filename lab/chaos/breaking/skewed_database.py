"""A database whose clock is wrong: the service's role finds functions of ours before those that tell the time.

No right of the operating system is needed for it. What no function of the schema replaces keeps the true time: column
defaults, the keyword CURRENT_TIMESTAMP, and the server's own deadlines.
"""

import psycopg
from psycopg import sql

from dev.engines.postgres import RUNTIME

SCHEMA = "skewed"
CLOCKS = {
    "now": "STABLE",
    "transaction_timestamp": "STABLE",
    "statement_timestamp": "STABLE",
    "clock_timestamp": "VOLATILE",
}
CLOCK = """
    CREATE OR REPLACE FUNCTION {clock}() RETURNS timestamptz LANGUAGE sql {volatility}
    RETURN pg_catalog.{name}() + make_interval(secs => {seconds})
"""


def skew(owner_url: str, seconds: int) -> None:
    """Have all sessions of the service that begin from now on see a clock which is wrong by this much."""
    schema = sql.Identifier(SCHEMA)
    with psycopg.connect(owner_url) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, sql.Identifier(RUNTIME)))
        for name, volatility in CLOCKS.items():
            clock, own = sql.Identifier(SCHEMA, name), sql.Identifier(name)
            parts = {"clock": clock, "name": own, "volatility": sql.SQL(volatility), "seconds": sql.Literal(seconds)}
            connection.execute(sql.SQL(CLOCK).format(**parts))
        path = sql.SQL("ALTER ROLE {} SET search_path = {}, pg_catalog, public")
        connection.execute(path.format(sql.Identifier(RUNTIME), schema))


def set_right(owner_url: str) -> None:
    """Have later sessions see the true time."""
    with psycopg.connect(owner_url) as connection:
        connection.execute(sql.SQL("ALTER ROLE {} RESET search_path").format(sql.Identifier(RUNTIME)))
