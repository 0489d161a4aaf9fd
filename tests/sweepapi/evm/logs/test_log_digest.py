"""The digest of logs is that of all that follows from them, so two providers that show something else differ in it."""

from dataclasses import replace

import pytest

from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.logs.log_digest import digest

LOG = Log(address="0xContract", topics=("0x" + "11" * 32,), data=b"\x01")
OTHER = replace(LOG, data=b"\x02")


def test_the_same_logs_have_the_same_digest() -> None:
    assert digest([LOG, OTHER]) == digest(iter([replace(LOG), OTHER]))


@pytest.mark.parametrize(
    "other",
    [
        [],
        [LOG],
        [OTHER, LOG],
        [LOG, OTHER, OTHER],
        [LOG, replace(OTHER, data=b"\x03")],
        [LOG, replace(OTHER, topics=("0x" + "12" * 32,))],
        [LOG, replace(OTHER, topics=(*LOG.topics, *LOG.topics))],
    ],
)
def test_other_logs_and_another_order_have_another_digest(other: list[Log]) -> None:
    assert digest(other) != digest([LOG, OTHER])
