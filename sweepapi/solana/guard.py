"""Makes a transaction fail on chain unless the wallet holds its minimum of the output when all swaps are done.

The guard transfers what the wallet must hold then from its output account to the same account: that moves nothing, but
token programs compare the amount with the balance first. So neither a program that behaves differently once it is not
simulated nor a price that moved can pay the user less, whatever the swap API wrote into its instructions.
"""

from dataclasses import dataclass

from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from spl.token.instructions import transfer_checked
from spl.token.models import TransferCheckedParams

from sweepapi.solana.accounts import MAX_AMOUNT
from sweepapi.solana.addresses import WRAPPED_SOL, associated_account
from sweepapi.solana.errors import UnsafeSwapError


@dataclass(frozen=True)
class Output:
    """The output of a sweep, in the wallet's associated account of its mint."""

    wallet: Pubkey
    mint: Pubkey
    program: Pubkey
    decimals: int
    held: int  # by the account before the sweep

    @property
    def is_unwrapped(self) -> bool:
        """Whether each transaction ends with closing the account, so that the next one finds nothing in it."""
        return self.mint == WRAPPED_SOL

    def guard(self, minimum: int, reference: Pubkey) -> Instruction:
        """Return the guard of a transaction, which also names the reference, by which the transaction is found."""
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
        named = AccountMeta(reference, is_signer=False, is_writable=False)
        return Instruction(checked.program_id, checked.data, [*checked.accounts, named])
