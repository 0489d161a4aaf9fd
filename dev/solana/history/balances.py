"""What the accounts of a transaction hold, as nodes report it before and after: lamports and tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from solders.account import Account
from solders.pubkey import Pubkey
from spl.token.constants import ACCOUNT_LEN, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID

TOKEN_PROGRAMS = frozenset({TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID})
_MINT = slice(0, 32)
_OWNER = slice(32, 64)
_AMOUNT = slice(64, 72)
_STATE = 108
_MINT_DECIMALS = 44
# After the fields of every token account, Token-2022 says what the account is: 1 a mint, 2 a token account.
_ACCOUNT_TYPE = ACCOUNT_LEN
_TOKEN_ACCOUNT_TYPE = 2

ReadAccount = Callable[[Pubkey], Account | None]


@dataclass(frozen=True)
class Balances:
    """The balances of all accounts of a transaction at one moment."""

    lamports: list[int]
    tokens: list[dict[str, Any]]


def is_token_account(account: Account) -> bool:
    """Whether this is an initialized token account of either token program."""
    data = account.data
    if account.owner not in TOKEN_PROGRAMS or len(data) < ACCOUNT_LEN or not data[_STATE]:
        return False
    return len(data) == ACCOUNT_LEN or data[_ACCOUNT_TYPE] == _TOKEN_ACCOUNT_TYPE


def owner_of(token_account: Account) -> Pubkey:
    return Pubkey.from_bytes(token_account.data[_OWNER])


def mint_of(token_account: Account) -> Pubkey:
    return Pubkey.from_bytes(token_account.data[_MINT])


def read_balances(read: ReadAccount, keys: Sequence[Pubkey]) -> Balances:
    """Read the balances of these accounts; as on a real node, tokens only if a token program is among them."""
    accounts = [read(key) for key in keys]
    tokens = []
    if not TOKEN_PROGRAMS.isdisjoint(keys):
        tokens = [
            _token_balance(read, index, account)
            for index, account in enumerate(accounts)
            if account is not None and is_token_account(account)
        ]
    return Balances([account.lamports if account else 0 for account in accounts], tokens)


def _token_balance(read: ReadAccount, index: int, account: Account) -> dict[str, Any]:
    mint = mint_of(account)
    mint_account = read(mint)
    decimals = mint_account.data[_MINT_DECIMALS] if mint_account else 0
    amount = int.from_bytes(account.data[_AMOUNT], "little")
    whole = Decimal(amount).scaleb(-decimals).normalize()
    shown = {
        "amount": str(amount),
        "decimals": decimals,
        "uiAmount": float(whole) if amount else None,
        "uiAmountString": format(whole, "f"),
    }
    return {
        "accountIndex": index,
        "mint": str(mint),
        "owner": str(owner_of(account)),
        "programId": str(account.owner),
        "uiTokenAmount": shown,
    }
