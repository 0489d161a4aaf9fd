"""Pieces of SQL that more than one app's statements use."""


def utc(column: str) -> str:
    """Return a time as text, as ``UtcDateTimeField`` shows it: in UTC, with microseconds if they are not zero."""
    return f"""replace(to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000', '')"""
