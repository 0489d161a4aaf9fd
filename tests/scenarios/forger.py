"""Code that emits whatever log it is called with, and calls of it, to forge the events of our contracts."""

from sweepapi.evm.encoding.responses import Log
from tests.scenarios.wallets import Call

# Of a log with n topics, the calldata has the topics first and then the data:
#   CALLDATACOPY(0, 32·n, CALLDATASIZE - 32·n); LOGn(0, CALLDATASIZE - 32·n, topics…)
_COPY_DATA = "60{start:02x}360380" + "60{start:02x}5f37"
_LOG_AND_STOP = "{duplicate_size:02x}5f{log:02x}00"
_DUP1, _LOG0 = 0x80, 0xA0


def forging_code(topic_count: int) -> str:
    """Return runtime code (hex without 0x) that emits logs with this number of topics."""
    topics = "".join(f"60{32 * position:02x}35" for position in reversed(range(topic_count)))
    copy = _COPY_DATA.format(start=32 * topic_count)
    return copy + topics + _LOG_AND_STOP.format(duplicate_size=_DUP1 + topic_count, log=_LOG0 + topic_count)


def forge(emitter: str, log: Log) -> Call:
    """Return the call that has the forging code at an address emit this log."""
    return emitter, bytes.fromhex("".join(topic[2:] for topic in log.topics)) + log.data
