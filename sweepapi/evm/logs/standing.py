"""How far what providers show of a mined transaction can be relied on.

A provider has an opinion about a transaction once its head has reached the block that another one shows. It supports
what it shows itself in a block that is its own at that height; it contradicts what it lacks or shows differently.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sweepapi.evm.encoding.responses import Receipt


class Standing(Enum):
    """How many providers show a transaction alike, and whether another one contradicts them."""

    UNPLACED = "unplaced"  # no provider shows the receipt's block at its height
    CONTRADICTED = "contradicted"
    ALONE = "alone"  # one shows it, and no other one that has reached its block answered
    ONLY = "only"  # as above, and no other one is configured
    AGREED = "agreed"  # two show it alike, and fewer show anything else


@dataclass(frozen=True)
class TransactionView:
    """What one provider shows of one transaction."""

    head_number: int
    receipt: Receipt | None
    content: Hashable  # of the receipt: block, outcome and events, as they have to be the same; None without a receipt
    block_hash: str | None  # at the receipt's height; None if the provider did not show it
    state: Any  # what the caller reads of a contract on the provider's newest block; None if that can't be read

    @property
    def is_placed(self) -> bool:
        return self.receipt is not None and self.receipt.block_hash == self.block_hash

    @property
    def is_misplaced(self) -> bool:
        return self.receipt is not None and self.block_hash not in (None, self.receipt.block_hash)


@dataclass(frozen=True)
class SeenTransaction:
    """A mined transaction as most of those that show it do."""

    receipt: Receipt
    standing: Standing
    states: frozenset[Any] = frozenset()  # the contract's, of those that decide


def weigh(views: Sequence[TransactionView], *, providers: int) -> SeenTransaction | None:
    """Return what these views show of a transaction, of so many configured providers; None if none shows it."""
    placed = [view for view in views if view.is_placed]
    contents = [view.content for view in placed]
    leading = max(contents, key=contents.count, default=None)
    supporters = [view for view in placed if view.content == leading]
    receipt = next((view.receipt for view in supporters or views if view.receipt is not None), None)
    if receipt is None:
        return None
    standing = _standing(supporters, views, receipt.block_number, providers)
    # Two that agree are believed about the state, too; of one alone, any other that has reached the block may object.
    has_agreed, height = standing is Standing.AGREED, receipt.block_number
    heard = supporters if has_agreed else [view for view in views if view.head_number >= height]
    return SeenTransaction(receipt, standing, frozenset(view.state for view in heard) - {None})


def _standing(
    supporters: Sequence[TransactionView], views: Sequence[TransactionView], height: int, providers: int
) -> Standing:
    if not supporters:
        return Standing.UNPLACED
    if providers == 1:
        return Standing.ONLY
    content = supporters[0].content
    others = [view.content for view in views if view.content != content and view.head_number >= height]
    if len(supporters) > max([1, *map(others.count, others)]):
        return Standing.AGREED
    is_contradicted = bool(others) or any(view.is_misplaced for view in views)
    return Standing.CONTRADICTED if is_contradicted else Standing.ALONE
