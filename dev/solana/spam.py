"""Fills a wallet with worthless tokens, as strangers do, without the transactions that would create their accounts."""

from solders.account import Account
from solders.pubkey import Pubkey
from solders.token.state import TokenAccount, TokenAccountState
from spl.token.constants import TOKEN_PROGRAM_ID

from dev.solana.faucet import Faucet

RENT = 2_039_280


def put_accounts(faucet: Faucet, owner: Pubkey, count: int, *, like: Pubkey, amount: int = 5) -> list[Pubkey]:
    """Write associated accounts of made-up mints, which are copies of another one; returns their keys."""
    mint = faucet.bank.account(like)
    if mint is None:
        raise LookupError(f"unknown mint {like}")
    made_up = [Pubkey.new_unique() for _ in range(count)]
    for key in made_up:
        faucet.bank.set_account(key, mint)
        held = TokenAccount(key, owner, amount, None, TokenAccountState.Initialized, None, 0, None)
        faucet.bank.set_account(faucet.associated_account(owner, key), Account(RENT, bytes(held), TOKEN_PROGRAM_ID))
    return made_up
