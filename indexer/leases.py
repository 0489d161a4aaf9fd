"""Keeps the lease of rows while a check works on them, so that a lease can be short.

A process that was killed or is frozen renews nothing, and others take its rows over within seconds. Providers that
answer late cost nothing: without renewals, checks that last longer than a lease would take each other's rows without
end.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from datetime import timedelta
from threading import Event, Thread

import structlog
from django import db

log = structlog.get_logger(__name__)

# What a process held that died has to be checked again within five seconds, and beat looks for it every two.
LEASE = timedelta(seconds=2.5)
RENEWAL_SECONDS = 0.75  # a quick check ends before; of a longer one, two renewals in a row may fail


@contextmanager
def renewed(renew: Callable[[], object]) -> Iterator[None]:
    """Call this every now and then until the block ends, in a thread, with that thread's connection to the database.

    A renewal that fails is tried again; if the lease ends meanwhile, what its holder writes is compared and dropped.
    """
    ended = Event()
    keeper = Thread(target=copy_context().run, args=(_keep, renew, ended), name="lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()


def _keep(renew: Callable[[], object], ended: Event) -> None:
    while not ended.wait(RENEWAL_SECONDS):
        try:
            renew()
        except db.Error as error:
            log.warning("lease_not_renewed", error=type(error).__name__)
            db.connection.close()
    db.connection.close()
