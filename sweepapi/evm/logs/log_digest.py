"""A digest of the logs that a contract emitted in a transaction, to tell cheaply that two sources show the same."""

import hashlib
from collections.abc import Iterable

from sweepapi.evm.encoding.responses import Log


def digest(logs: Iterable[Log]) -> str:
    """Return it in hex; each topic and all data of each log are in it, in the order of the transaction."""
    lines = (" ".join((*one.topics, one.data.hex())) for one in logs)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
