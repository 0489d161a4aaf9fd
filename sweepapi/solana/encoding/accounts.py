"""Accounts as a cluster holds them, and the token accounts among them, read from their bytes."""

from dataclasses import dataclass

from solders.pubkey import Pubkey
from solders.token.state import TokenAccount as Layout
from solders.token.state import TokenAccountState

from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS, associated_account
from sweepapi.solana.encoding.extensions import AccountType, Extension, extensions_of, number

TOKEN_ACCOUNT_BYTES = 165  # without extensions
_RENT_BASE_BYTES = 128  # for which every account pays rent, as for its data
MAX_AMOUNT = 2**64 - 1  # that a token account can hold


@dataclass(frozen=True)
class ClusterAccount:
    """What the cluster holds under one key."""

    lamports: int
    owner: Pubkey  # the program that may change it
    data: bytes
    executable: bool


@dataclass(frozen=True)
class TokenAccount:
    """A token account of either token program; its ``owner`` is the wallet that may spend from it."""

    program: Pubkey
    mint: Pubkey
    owner: Pubkey
    amount: int
    delegate: Pubkey | None
    close_authority: Pubkey | None
    is_frozen: bool
    is_native: bool
    refuses_programs: bool = False  # its owner forbids programs to transfer from it, as every swap does
    has_withheld_fees: bool = False  # of transfers to it: to close it, anyone may harvest them to their mint first
    is_confidential: bool = False  # it may hold amounts that no one sees

    @property
    def has_hidden_balance(self) -> bool:
        """Whether it holds, or may hold, more than its amount, with which it can't be closed."""
        return self.has_withheld_fees or self.is_confidential

    @property
    def is_closable(self) -> bool:
        """Whether its owner could close it once its amount is zero, and get its lamports."""
        return not self.is_confidential and self.close_authority in (None, self.owner)


@dataclass(frozen=True)
class Holding:
    """A token account of a wallet."""

    key: Pubkey
    lamports: int
    data_bytes: int
    token: TokenAccount

    @property
    def rent_lamports(self) -> int:
        """What closing it gives back, without a balance of SOL."""
        return self.lamports - (self.token.amount if self.token.is_native else 0)

    def excess_lamports(self, token_account_rent: int) -> int:
        """Return what it holds above its rent, at this rent of a token account without extensions.

        What is above the balance of wrapped SOL can't be withdrawn while the account is open.
        """
        return 0 if self.token.is_native else max(self.lamports - rent_of(self.data_bytes, token_account_rent), 0)

    @property
    def is_associated(self) -> bool:
        """Whether it is the associated account of its owner and mint, which swaps take from."""
        return self.key == associated_account(self.token.owner, self.token.mint, self.token.program)


def rent_of(data_bytes: int, token_account_rent: int) -> int:
    """Return the rent of an account of this size, which is proportional to that."""
    return token_account_rent * (_RENT_BASE_BYTES + data_bytes) // (_RENT_BASE_BYTES + TOKEN_ACCOUNT_BYTES)


def token_account(account: ClusterAccount) -> TokenAccount | None:
    """Return the token account that this account is, or None if it is not an initialized one."""
    if account.owner not in TOKEN_PROGRAMS:
        return None
    try:
        return _token_account(account)
    except ValueError:
        return None


def _token_account(account: ClusterAccount) -> TokenAccount:
    data = account.data
    extensions = extensions_of(account.owner, data, base_bytes=TOKEN_ACCOUNT_BYTES, account_type=AccountType.ACCOUNT)
    base = Layout.from_bytes(data[:TOKEN_ACCOUNT_BYTES])  # raises ValueError for one that is not initialized
    withheld, guard = extensions.get(Extension.TRANSFER_FEE_AMOUNT), extensions.get(Extension.CPI_GUARD)
    return TokenAccount(
        program=account.owner,
        mint=base.mint,
        owner=base.owner,
        amount=base.amount,
        delegate=base.delegate,
        close_authority=base.close_authority,
        is_frozen=base.state == TokenAccountState.Frozen,
        is_native=base.is_native is not None,
        refuses_programs=guard is not None and number(guard, at=0, length=1) != 0,
        has_withheld_fees=withheld is not None and number(withheld, at=0, length=8) != 0,
        is_confidential=Extension.CONFIDENTIAL_TRANSFER_ACCOUNT in extensions,
    )
