"""The digest of logs is that of all that follows from them, so two providers that show something else differ in it."""

from dataclasses import replace

import pytest

from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.logs.log_digest import digest

LOG = Log(address="0xContract", topics=("0x" + "11" * 32,), data=b"\x01")


def test_the_same_logs_have_the_same_digest() -> None:
    assert digest([(3, LOG), (4, LOG)]) == digest(iter([(3, replace(LOG)), (4, LOG)]))


@pytest.mark.parametrize(
    "other",
    [
        [],
        [(4, LOG)],
        [(3, LOG), (4, LOG)],
        [(3, replace(LOG, data=b"\x02"))],
        [(3, replace(LOG, topics=("0x" + "12" * 32,)))],
        [(3, replace(LOG, topics=(*LOG.topics, *LOG.topics)))],
    ],
)
def test_other_logs_and_other_positions_have_another_digest(other: list[tuple[int, Log]]) -> None:
    assert digest(other) != digest([(3, LOG)])
