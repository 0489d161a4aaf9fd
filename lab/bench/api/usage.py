"""What the server and its database have used of the CPU."""

from dataclasses import dataclass

from django.db import connection

from dev.processes.process import Child
from lab.bench.indexer.processes import cpu_seconds, cpu_seconds_of


@dataclass(frozen=True)
class Used:
    """CPU time in seconds."""

    web_seconds: float
    database_seconds: float

    def __sub__(self, before: "Used") -> "Used":
        return Used(self.web_seconds - before.web_seconds, self.database_seconds - before.database_seconds)

    def each(self, count: int) -> "Used":
        return Used(self.web_seconds / count, self.database_seconds / count)


def so_far(web: Child) -> Used:
    """Return what was used since they started; a process that ended meanwhile no longer counts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        backends = [pid for (pid,) in cursor.fetchall()]
    return Used(cpu_seconds(web), cpu_seconds_of(backends))
