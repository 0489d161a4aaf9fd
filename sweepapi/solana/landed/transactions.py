"""A transaction in a block, successful or not: its instructions and what it changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sweepapi.solana.encoding.addresses import TOKEN, WRAPPED_SOL, associated_account, public_key


@dataclass(frozen=True)
class LandedInstruction:
    """An instruction with its accounts looked up."""

    program: str
    accounts: tuple[str, ...]
    data: bytes


@dataclass(frozen=True)
class AccountBalance:
    """What one account held at one moment; without a mint, it is not a token account."""

    lamports: int
    mint: str = ""
    owner: str = ""  # the wallet that owns a token account
    amount: int = 0


@dataclass(frozen=True)
class Landed:
    """A transaction in a block, successful or not; equal to what another node shows of it, whichever keeps its logs."""

    signature: str
    slot: int
    is_successful: bool
    error: str = field(compare=False)  # why it failed, from logs that not every node keeps; blank if it succeeded
    payer: str
    fee: int  # lamports
    units: int = field(compare=False)  # compute units consumed; 0 if the node does not say
    instructions: tuple[LandedInstruction, ...]  # without those that wallets change or add
    before: Mapping[str, AccountBalance]  # by account
    after: Mapping[str, AccountBalance]

    def account_gain(self, account: str, mint: str) -> int:
        """Return what a token account gained of a mint; negative if it lost."""
        return sum(
            sign * one.amount
            for sign, balances in ((1, self.after), (-1, self.before))
            for key, one in balances.items()
            if (key, one.mint) == (account, mint)
        )

    def token_gain(self, wallet: str, mint: str) -> int:
        """Return what all token accounts of a wallet gained of a mint; negative if they lost."""
        return sum(
            sign * one.amount
            for sign, balances in ((1, self.after), (-1, self.before))
            for one in balances.values()
            if (one.owner, one.mint) == (wallet, mint)
        )

    def lamports_gain(self, wallet: str) -> int:
        """Return what a wallet and its token accounts gained in lamports, without the fee of the transaction.

        Anyone can give lamports to the account of wrapped SOL while it is not open, so it counts even if it is open
        neither before nor after.
        """
        wrapped = str(associated_account(public_key(wallet), WRAPPED_SOL, TOKEN))
        gain = sum(
            self.after[key].lamports - before.lamports
            for key, before in self.before.items()
            if key in (wallet, wrapped) or wallet in (before.owner, self.after[key].owner)
        )
        return gain + self.fee if self.payer == wallet else gain


class Unreadable(Enum):
    """Why a node does not show a transaction that it has."""

    OTHER_VERSION = "other version"

    def at(self, signature: str, slot: int) -> Landed:
        """Return the transaction as one of which nothing else is known."""
        return Landed(
            signature,
            slot,
            is_successful=False,
            error="",
            payer="",
            fee=0,
            units=0,
            instructions=(),
            before={},
            after={},
        )
