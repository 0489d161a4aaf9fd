"""A digest of the logs that a contract emitted in a transaction, to tell cheaply that two sources show the same."""

import hashlib
from collections.abc import Iterable

from sweepapi.evm.encoding.responses import Log


def digest(logs: Iterable[tuple[int, Log]]) -> str:
    """Return it in hex; the position in the block, each topic and all data of each log are in it, in their order."""
    lines = (" ".join((str(position), *one.topics, one.data.hex())) for position, one in logs)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
