"""What follows from what several providers show at the height of a block."""

import pytest

from sweepapi.evm.logs.block_views import Consensus, Source, View, conclude

OURS, OTHER = "0x" + "11" * 32, "0x" + "22" * 32
SWEPT: Source = ("0xContract", "0x" + "aa" * 32)
SHOWN = {SWEPT: "digest"}
FINAL, INCLUDED, FORKED = View(OURS, True, SHOWN), View(OURS, False, SHOWN), View(OTHER, False, {})  # noqa: FBT003


@pytest.mark.parametrize(
    ("shown", "consensus"),
    [
        ([FINAL, FINAL], Consensus(is_final=True, proven={SWEPT: "digest"})),
        ([FINAL, INCLUDED], Consensus()),
        ([FINAL], Consensus()),
        ([FINAL, FORKED], Consensus(is_disputed=True)),
        ([FORKED, FORKED], Consensus(is_gone=True)),
        ([FORKED], Consensus()),
        ([FINAL, FORKED, FINAL], Consensus(is_final=True, proven={SWEPT: "digest"})),
        ([FORKED, INCLUDED, FORKED], Consensus(is_gone=True)),
        ([FORKED, View("0x" + "33" * 32, is_final=False, emitted={})], Consensus()),
    ],
)
def test_two_providers_decide_about_a_block(shown: list[View], consensus: Consensus) -> None:
    assert conclude(OURS, shown, needed=2) == consensus


@pytest.mark.parametrize("doubted", [{}, {SWEPT: "another digest"}, None])
def test_logs_are_proven_only_if_two_providers_show_the_same(doubted: dict[Source, str] | None) -> None:
    doubter = View(OURS, is_final=True, emitted=doubted)
    assert conclude(OURS, [FINAL, doubter], needed=2) == Consensus(is_final=True)
    assert conclude(OURS, [doubter, FINAL, FINAL], needed=2).proven == {SWEPT: "digest"}


def test_a_single_provider_decides_alone() -> None:
    assert conclude(OURS, [FINAL], needed=1).proven == {SWEPT: "digest"}
    assert conclude(OURS, [FORKED], needed=1).is_gone
