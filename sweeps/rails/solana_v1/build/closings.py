"""Which token accounts give lamports back: those that a sweep closes, and those that hold more than their rent."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from spl.token.instructions import close_account
from spl.token.models import CloseAccountParams

from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.packing import Packed
from sweeps.rails.solana_v1.build.facts import ClusterFacts

# TransferFeeExtension (26) of Token-2022 and its instruction (4).
_HARVEST_WITHHELD_TOKENS_TO_MINT = bytes([26, 4])
_WITHDRAW_EXCESS_LAMPORTS = bytes([38])  # of both token programs


@dataclass(frozen=True)
class Overfunded:
    """A token account that stays open, and what it holds above its rent: rent was higher when it was created."""

    holding: Holding
    lamports: int

    @property
    def withdrawal(self) -> Instruction:
        """The instruction that withdraws that to the wallet."""
        wallet = self.holding.token.owner
        accounts = [
            AccountMeta(self.holding.key, is_signer=False, is_writable=True),
            AccountMeta(wallet, is_signer=False, is_writable=True),
            AccountMeta(wallet, is_signer=True, is_writable=False),
        ]
        return Instruction(self.holding.token.program, _WITHDRAW_EXCESS_LAMPORTS, accounts)


def emptied(holding: Holding, amount: int) -> bool:
    """Whether selling this amount leaves an account that can be closed."""
    return holding.token.amount == amount and holding.token.is_closable


def is_reclaimable(holding: Holding, output_mint: str) -> bool:
    """Whether a build closes an account because it is empty: discoveries promise what this says."""
    token = holding.token
    return token.amount == 0 and token.is_closable and str(token.mint) != output_mint


def empty_before(facts: ClusterFacts, used: Collection[Pubkey]) -> list[Holding]:
    """Return the wallet's empty accounts that are not used, those that give most back first."""
    output_mint = str(facts.output_mint)
    found = [one for one in facts.holdings.values() if one.key not in used and is_reclaimable(one, output_mint)]
    return most_first(found)


def most_first(holdings: Iterable[Holding]) -> list[Holding]:
    """Return the accounts in the order in which they are closed, if not all fit into a sweep."""
    return sorted(holdings, key=lambda one: (-one.rent_lamports, str(one.key)))


def wrapped_sol(facts: ClusterFacts, used: Collection[Pubkey]) -> list[Holding]:
    """Return the wallet's accounts of wrapped SOL that are not used, and can be unwrapped, which closes them."""
    native = [one for one in facts.holdings.values() if one.token.is_native and one.key not in used]
    return [one for one in native if one.token.amount > 0 and one.token.is_closable]


def _closing(holding: Holding) -> Instruction:
    """Return the instruction that closes an account of a wallet in its favor."""
    wallet = holding.token.owner
    return close_account(
        CloseAccountParams(program_id=holding.token.program, account=holding.key, dest=wallet, owner=wallet)
    )


def overfunded(holdings: Iterable[Holding], token_account_rent: int) -> list[Overfunded]:
    """Return those of the accounts, which stay open, whose excess is worth a signature, those with most first."""
    found = [_overfunded(one, token_account_rent) for one in holdings]
    worthy = [one for one in found if one.lamports >= compute_budget.LAMPORTS_PER_SIGNATURE]
    return sorted(worthy, key=lambda one: (-one.lamports, str(one.holding.key)))


def closing(holding: Holding) -> list[Instruction]:
    """Return what closes an account; fees that it withholds go to their mint first, which needs no authority."""
    token = holding.token
    mint_and_account = [AccountMeta(key, is_signer=False, is_writable=True) for key in (token.mint, holding.key)]
    harvest = Instruction(token.program, _HARVEST_WITHHELD_TOKENS_TO_MINT, mint_and_account)
    return [*([harvest] if token.has_withheld_fees else []), _closing(holding)]


def closed_by(packed: Packed, holdings: Mapping[Pubkey, Holding]) -> list[Holding]:
    """Return those of the accounts, by key, that a transaction closes."""
    named = [(holdings.get(one.accounts[0].pubkey), one) for one in packed.instructions if one.accounts]
    return [holding for holding, one in named if holding is not None and _closing(holding) == one]


def withdrawn_by(packed: Packed, holdings: Mapping[Pubkey, Holding], token_account_rent: int) -> list[Overfunded]:
    """Return those of the accounts, by key, from which a transaction withdraws what is above their rent."""
    named = [(holdings.get(one.accounts[0].pubkey), one) for one in packed.instructions if one.accounts]
    found = [(_overfunded(holding, token_account_rent), one) for holding, one in named if holding is not None]
    return [overfunded for overfunded, one in found if overfunded.withdrawal == one]


def _overfunded(holding: Holding, token_account_rent: int) -> Overfunded:
    return Overfunded(holding, holding.excess_lamports(token_account_rent))
