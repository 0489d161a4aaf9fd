"""Runs work in several database sessions at the same time."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, connection

from ledger.errors import PayoutRefusedError


def at_once(work: Callable[[], Any], *, sessions: int) -> list[BaseException | None]:
    """Run the work in several database sessions at the same time; return what each was refused for."""
    start = threading.Barrier(sessions)
    raised: list[BaseException | None] = [None] * sessions

    def run(index: int) -> None:
        try:
            connection.ensure_connection()
            start.wait()
            work()
        except (IntegrityError, PayoutRefusedError) as error:
            raised[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[index]) for index in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised
