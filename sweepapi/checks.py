"""System checks of secrets and development switches, and of the connections that all processes together may open."""

import re
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import connections

from sweepapi.startup import exposure, secrets

# The probes of Celery's worker and beat; of each process of the loop, its probe, figures and watch.
WATCHING_CONNECTIONS = 2 + 3 * 3
JOB_CONNECTIONS = 12 + 3  # a thread for each job, and those that renew the leases of some
# Migrations, a shell, a monitor, and what PostgreSQL keeps for its superuser.
RESERVED_CONNECTIONS = 10

_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII | re.IGNORECASE)


@checks.register(checks.Tags.database)
def connections_fit(databases: Sequence[str] | None = None, **_kwargs: Any) -> list[checks.CheckMessage]:  # noqa: ANN401 - Django's signature
    """Warn if all threads and processes that use the database need more connections than the server gives."""
    if not databases or "default" not in databases:
        return []
    web = settings.WEB_PROCESSES * (settings.WEB_THREADS + 1)  # each process has a probe
    needed = web + settings.WORKER_PROCESSES + JOB_CONNECTIONS + WATCHING_CONNECTIONS + RESERVED_CONNECTIONS
    with connections["default"].cursor() as cursor:
        cursor.execute("SHOW max_connections")
        allowed = int(cursor.fetchone()[0])
    if needed <= allowed:
        return []
    return [checks.Warning(f"Up to {needed} connections are needed, the server allows {allowed}.", id="sweepapi.W001")]


@checks.register()
def secrets_are_secret(**_kwargs: Any) -> list[checks.CheckMessage]:  # noqa: ANN401 - as above
    """Report each that is short, malformed, known or used twice; what a process needs is looked at where it starts."""
    problems: list[checks.CheckMessage] = [checks.Error(text, id="sweepapi.E001") for text in secrets.problems()]
    if not all(_KEY.fullmatch(key) for key in settings.PROOF_RETIRED_KEYS):
        problems.append(checks.Error("PROOF_RETIRED_KEYS must be keys of 64 hex digits.", id="sweepapi.E002"))
    return problems


@checks.register()
def switches_are_for_this_machine(**_kwargs: Any) -> list[checks.CheckMessage]:  # noqa: ANN401 - as above
    return [checks.Error(text, id="sweepapi.E003") for text in exposure.problems()]
