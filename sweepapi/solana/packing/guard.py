"""Makes a transaction fail on chain unless the wallet holds its minimum of the output when all swaps are done.

The guard transfers what the wallet must hold then from its output account to the same account: that moves nothing, but
token programs compare the amount with the balance first. So neither a program that behaves differently once it is not
simulated nor a price that moved can pay the user less, whatever the swap API wrote into its instructions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from spl.token.instructions import close_account, transfer_checked
from spl.token.models import CloseAccountParams, TransferCheckedParams

from sweepapi.solana.encoding.accounts import MAX_AMOUNT
from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS, WRAPPED_SOL, associated_account
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.landed.transactions import LandedInstruction

_PROGRAMS = frozenset(map(str, TOKEN_PROGRAMS))
_TRANSFER_CHECKED = bytes([12])  # the number of the instruction in both token programs
_GUARD_ACCOUNTS = 6  # source, mint, destination, owner, reference, fee account


@dataclass(frozen=True)
class Output:
    """The output of a sweep, in the wallet's associated account of its mint."""

    wallet: Pubkey
    mint: Pubkey
    program: Pubkey
    decimals: int
    held: int  # by the account before the sweep
    fee_account: Pubkey  # that is paid the fee
    dont_front: bool = False  # whether no one may put a transaction before this sweep's in a bundle

    @property
    def is_unwrapped(self) -> bool:
        """Whether each transaction ends with closing the account, so that the next one finds nothing in it."""
        return self.mint == WRAPPED_SOL

    @property
    def unwrapping(self) -> Instruction:
        """Return what closes the account, by which the wallet receives SOL."""
        account = associated_account(self.wallet, self.mint, self.program)
        return close_account(
            CloseAccountParams(program_id=self.program, account=account, dest=self.wallet, owner=self.wallet)
        )

    def guard(self, minimum: int, reference: Pubkey) -> Instruction:
        """Return the guard of a transaction, which also names what it is found by, as the ``marker`` does.

        A swap need not name the fee account if its fee is zero.
        """
        if self.held + minimum > MAX_AMOUNT:
            raise UnsafeSwapError(f"its minimum {minimum} is more than an account can hold")
        account = associated_account(self.wallet, self.mint, self.program)
        checked = transfer_checked(
            TransferCheckedParams(
                program_id=self.program,
                source=account,
                mint=self.mint,
                dest=account,
                owner=self.wallet,
                amount=self.held + minimum,
                decimals=self.decimals,
            )
        )
        return Instruction(checked.program_id, checked.data, [*checked.accounts, *self._named(reference)])

    def marker(self, reference: Pubkey) -> Instruction:
        """Return what a transaction that sells nothing is found by, in the place of a guard: a transfer of no lamports.

        It names the reference, and the fee account, among whose transactions those are that land late.
        """
        nothing = transfer(TransferParams(from_pubkey=self.wallet, to_pubkey=self.wallet, lamports=0))
        return Instruction(nothing.program_id, nothing.data, [*nothing.accounts, *self._named(reference)])

    def _named(self, reference: Pubkey) -> list[AccountMeta]:
        return [AccountMeta(key, is_signer=False, is_writable=False) for key in (reference, self.fee_account)]


@dataclass(frozen=True)
class Guarded:
    """What the guard of a landed transaction names."""

    wallet: str
    mint: str
    program: str
    reference: str


def read_guard(instructions: Sequence[LandedInstruction]) -> Guarded | None:
    """Return what the guard among these instructions names; None unless there is exactly one.

    Anyone can write such an instruction.
    """
    found = [
        Guarded(wallet=one.accounts[3], mint=one.accounts[1], program=one.program, reference=one.accounts[4])
        for one in instructions
        if one.program in _PROGRAMS
        and one.data[:1] == _TRANSFER_CHECKED
        and len(one.accounts) == _GUARD_ACCOUNTS
        and one.accounts[0] == one.accounts[2]
    ]
    return found[0] if len(found) == 1 else None
