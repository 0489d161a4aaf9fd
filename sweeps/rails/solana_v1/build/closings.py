"""Which token accounts a sweep closes, so that the wallet gets their rent back."""

from collections.abc import Iterable, Mapping, Sequence

from solders.instruction import Instruction
from solders.pubkey import Pubkey
from spl.token.instructions import close_account
from spl.token.models import CloseAccountParams

from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.packing.packing import Packed
from sweeps.rails.solana_v1.build.facts import ClusterFacts

MAX_EXTRA_CLOSINGS = 30  # each is compiled with every transaction that it may fit into


def emptied(holding: Holding, amount: int) -> bool:
    """Whether selling this amount leaves an account that can be closed."""
    return holding.token.amount == amount and holding.token.is_closable


def empty_before(facts: ClusterFacts, legs: Iterable[Sequence[Instruction]]) -> list[Holding]:
    """Return the wallet's empty accounts that no leg uses."""
    used = {account.pubkey for instructions in legs for one in instructions for account in one.accounts}
    found = [
        holding
        for holding in facts.holdings.values()
        if holding.token.amount == 0 and holding.token.is_closable and holding.key not in used
    ]
    return found[:MAX_EXTRA_CLOSINGS]


def closing(holding: Holding) -> Instruction:
    """Return the instruction that closes an account of a wallet in its favor."""
    wallet = holding.token.owner
    return close_account(
        CloseAccountParams(program_id=holding.token.program, account=holding.key, dest=wallet, owner=wallet)
    )


def closed_by(packed: Packed, holdings: Mapping[Pubkey, Holding]) -> list[Holding]:
    """Return those of the accounts, by key, that a transaction closes."""
    named = [(holdings.get(one.accounts[0].pubkey), one) for one in packed.instructions if one.accounts]
    return [holding for holding, one in named if holding is not None and closing(holding) == one]
