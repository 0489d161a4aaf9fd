"""What providers together show of one transaction, and how far that can be relied on."""

from dataclasses import replace

import pytest

from sweepapi.evm.encoding.responses import Receipt
from sweepapi.evm.logs.standing import SeenTransaction, Standing, TransactionView, weigh

BLOCK, FORK = "0x" + "bb" * 32, "0x" + "ff" * 32
RECEIPT = Receipt("0x" + "aa" * 32, 100, BLOCK, succeeded=True, gas_used=1, logs=())


def view(receipt: Receipt | None = RECEIPT, *, head: int = 100, block_hash: str | None = BLOCK) -> TransactionView:
    """Return what an honest provider shows, or one with another receipt, head, or block at the receipt's height."""
    return TransactionView(head, receipt, receipt, None if receipt is None else block_hash, state=None)


HONEST = view()
REVERTED = view(replace(RECEIPT, succeeded=False))
HIGHER = view(replace(RECEIPT, block_number=99))
FORKED = view(replace(RECEIPT, block_hash=FORK), block_hash=FORK)
MADE_UP = view(replace(RECEIPT, block_hash=FORK))  # its block is not on the provider's own chain
NOWHERE = view(block_hash=None)  # it did not show the block
LACKS, LAGS, LAGS_FAR = view(None), view(None, head=99), view(None, head=5)


@pytest.mark.parametrize(
    ("views", "standing"),
    [
        ([HONEST], Standing.ALONE),
        ([HONEST, LAGS], Standing.ALONE),
        ([HONEST, LAGS_FAR], Standing.ALONE),
        ([HONEST, NOWHERE], Standing.ALONE),
        ([HONEST, HONEST], Standing.AGREED),
        ([FORKED, FORKED], Standing.AGREED),
        ([HONEST, LACKS], Standing.CONTRADICTED),
        ([HONEST, REVERTED], Standing.CONTRADICTED),
        ([HONEST, FORKED], Standing.CONTRADICTED),
        ([HONEST, HIGHER], Standing.CONTRADICTED),
        ([HONEST, MADE_UP], Standing.CONTRADICTED),
        ([MADE_UP], Standing.UNPLACED),
        ([NOWHERE], Standing.UNPLACED),
        ([MADE_UP, LACKS], Standing.UNPLACED),
        ([HONEST, HONEST, LACKS], Standing.AGREED),
        ([LACKS, HONEST, HONEST], Standing.AGREED),
        ([HONEST, REVERTED, HONEST], Standing.AGREED),
        ([HONEST, HONEST, LACKS, LACKS], Standing.CONTRADICTED),
        ([HONEST, HONEST, LACKS, REVERTED], Standing.AGREED),
        ([HONEST, LACKS, LACKS], Standing.CONTRADICTED),
    ],
)
def test_two_that_show_the_same_in_a_block_of_their_own_decide(
    views: list[TransactionView], standing: Standing
) -> None:
    for each in (views, views[::-1]):
        seen = weigh(each, providers=max(len(views), 2))
        assert seen is not None
        assert seen.standing is standing


@pytest.mark.parametrize(("shown", "standing"), [(HONEST, Standing.ONLY), (MADE_UP, Standing.UNPLACED)])
def test_the_only_provider_has_to_show_the_block_too(shown: TransactionView, standing: Standing) -> None:
    seen = weigh([shown], providers=1)
    assert seen is not None
    assert seen.standing is standing


@pytest.mark.parametrize("views", [[], [LACKS], [LACKS, LAGS]])
def test_what_no_provider_shows_is_not_seen(views: list[TransactionView]) -> None:
    assert weigh(views, providers=2) is None


def test_what_most_show_is_what_is_seen_with_the_states_of_those_who_show_it() -> None:
    used, unused = replace(HONEST, state=True), replace(REVERTED, state=False)
    assert weigh([unused, used, used], providers=3) == SeenTransaction(RECEIPT, Standing.AGREED, frozenset({True}))
    assert weigh([HONEST, used], providers=2) == SeenTransaction(RECEIPT, Standing.AGREED, frozenset({True}))


def test_the_state_at_any_provider_that_has_reached_the_block_counts_beside_one_word() -> None:
    used = replace(HONEST, state=True)
    for unused, states in ((NOWHERE, {True, False}), (LAGS, {True})):
        seen = weigh([used, replace(unused, state=False)], providers=2)
        assert seen is not None
        assert (seen.standing, set(seen.states)) == (Standing.ALONE, states)
