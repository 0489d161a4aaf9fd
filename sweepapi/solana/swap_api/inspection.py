"""What a swap API's instructions may say: every one is decoded and refused unless a swap needs it.

Runs before anything is simulated. What an allowed program does inside, only the simulation shows (``effects``).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from solders.instruction import Instruction
from solders.pubkey import Pubkey

from sweepapi.solana.encoding.addresses import ASSOCIATED_TOKEN, SYSTEM, TOKEN_PROGRAMS, WRAPPED_SOL, associated_account
from sweepapi.solana.encoding.errors import UnsafeSwapError

_CREATE, _CREATE_IDEMPOTENT = 0, 1  # of the associated token program
_TRANSFER, _CLOSE_ACCOUNT, _TRANSFER_CHECKED, _SYNC_NATIVE = 3, 9, 12, 17  # of both token programs
_TOKEN_DATA_BYTES = {_TRANSFER: 9, _CLOSE_ACCOUNT: 1, _TRANSFER_CHECKED: 10, _SYNC_NATIVE: 1}
_TOKEN_ACCOUNTS = {_TRANSFER: 3, _CLOSE_ACCOUNT: 3, _TRANSFER_CHECKED: 4, _SYNC_NATIVE: 1}


def inspect(
    instructions: Sequence[Instruction],
    *,
    wallet: Pubkey,
    swept: Mapping[Pubkey, int],
    mints_of: Mapping[Pubkey, Pubkey],
    allowed_programs: Collection[Pubkey],
) -> None:
    """Check all instructions of a swap API for one sweep; raises ``UnsafeSwapError``.

    ``swept`` is the amount to sell of each token account; ``mints_of`` the mint of every token account of the wallet.
    """
    inspector = _Inspector(wallet, swept, mints_of, Counter())
    checks: dict[Pubkey, Callable[[Instruction], None]] = {
        **dict.fromkeys(allowed_programs, _accept),
        ASSOCIATED_TOKEN: inspector.check_associated,
        **dict.fromkeys(TOKEN_PROGRAMS, inspector.check_token),
    }
    for instruction in instructions:
        if instruction.program_id not in checks:
            raise UnsafeSwapError(f"it calls the program {instruction.program_id}")
        inspector.check_signers(instruction)
        checks[instruction.program_id](instruction)


def check_cleanup(instruction: Instruction) -> None:
    """Check that what runs after the guard only unwraps SOL: anything else could take what the guard has counted."""
    if instruction.program_id not in TOKEN_PROGRAMS or bytes(instruction.data) != bytes([_CLOSE_ACCOUNT]):
        raise UnsafeSwapError("its cleanup does more than unwrap SOL")


def _accept(instruction: Instruction) -> None:
    """Leave an aggregator's instruction to the simulation."""


@dataclass(frozen=True)
class _Inspector:
    wallet: Pubkey
    swept: Mapping[Pubkey, int]
    mints_of: Mapping[Pubkey, Pubkey]
    moved: Counter[Pubkey]  # out of each swept account so far

    def check_signers(self, instruction: Instruction) -> None:
        for account in instruction.accounts:
            if account.is_signer and account.pubkey != self.wallet:
                raise UnsafeSwapError(f"it needs the signature of {account.pubkey}")

    def check_associated(self, instruction: Instruction) -> None:
        """Accept only the creation of an associated token account of the wallet."""
        if bytes(instruction.data) not in (b"", bytes([_CREATE]), bytes([_CREATE_IDEMPOTENT])):
            raise UnsafeSwapError("it calls the associated token program for something other than creating an account")
        match [account.pubkey for account in instruction.accounts]:
            case [payer, account, owner, mint, system, program, *_] if system == SYSTEM and program in TOKEN_PROGRAMS:
                pass
            case _:
                raise UnsafeSwapError("it creates an associated token account with malformed accounts")
        if payer != self.wallet or owner != self.wallet:
            raise UnsafeSwapError(f"it creates a token account of {owner} that {payer} pays for")
        if account != associated_account(owner, mint, program):
            raise UnsafeSwapError(f"it creates the account {account}, which is not the associated one")

    def check_token(self, instruction: Instruction) -> None:
        """Accept only what swaps need of a token program."""
        data, keys = bytes(instruction.data), [account.pubkey for account in instruction.accounts]
        kind = data[0] if data else None
        if kind is None or kind not in _TOKEN_DATA_BYTES:
            raise UnsafeSwapError(f"it calls a token program's instruction {kind}")
        if len(data) != _TOKEN_DATA_BYTES[kind] or len(keys) < _TOKEN_ACCOUNTS[kind]:
            raise UnsafeSwapError(f"it calls a token program's instruction {kind} malformed")
        if kind in (_TRANSFER, _TRANSFER_CHECKED):
            self._check_transfer(keys[0], int.from_bytes(data[1:9], "little"))
        elif kind == _CLOSE_ACCOUNT:
            self._check_closing(keys[0], keys[1], instruction.program_id)

    def _check_transfer(self, source: Pubkey, amount: int) -> None:
        """Accept a transfer of swept tokens; from accounts of others, what they let the wallet move is not its own."""
        if source not in self.mints_of and source not in self.swept:
            return
        self.moved[source] += amount
        if self.moved[source] > self.swept.get(source, 0):
            mint = self.mints_of.get(source)
            raise UnsafeSwapError(
                f"it transfers {self.moved[source]} of {mint}, of which {self.swept.get(source, 0)} are swept"
            )

    def _check_closing(self, account: Pubkey, destination: Pubkey, program: Pubkey) -> None:
        """Accept that SOL is unwrapped for the wallet."""
        if account != associated_account(self.wallet, WRAPPED_SOL, program):
            raise UnsafeSwapError(f"it closes the account {account}")
        if destination != self.wallet:
            raise UnsafeSwapError(f"it closes an account in favor of {destination}")
