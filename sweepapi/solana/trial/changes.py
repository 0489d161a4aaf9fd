"""Accounts before and after a transaction, and what the wallet gains and loses between."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from solders.pubkey import Pubkey

from sweepapi.solana.encoding.accounts import ClusterAccount, Holding, TokenAccount, token_account
from sweepapi.solana.encoding.addresses import SYSTEM, TOKEN, WRAPPED_SOL, associated_account

Accounts = Mapping[Pubkey, ClusterAccount | None]


@dataclass(frozen=True)
class Change:
    """One account before and after, with its token account if that is the wallet's."""

    key: Pubkey
    before: ClusterAccount | None
    after: ClusterAccount | None
    was: TokenAccount | None
    becomes: TokenAccount | None


def change_of(key: Pubkey, before: ClusterAccount | None, after: ClusterAccount | None, wallet: Pubkey) -> Change:
    return Change(key, before, after, _of_wallet(before, wallet), _of_wallet(after, wallet))


def _of_wallet(account: ClusterAccount | None, wallet: Pubkey) -> TokenAccount | None:
    found = token_account(account) if account is not None else None
    return found if found is not None and found.owner == wallet else None


def created_holdings(before: Accounts, after: Accounts, wallet: Pubkey) -> list[Holding]:
    """Return the token accounts that the wallet has afterwards, and did not have before."""
    changes = (change_of(key, before[key], after[key], wallet) for key in before)
    return [
        Holding(change.key, change.after.lamports, len(change.after.data), change.becomes)
        for change in changes
        if change.was is None and change.becomes is not None and change.after is not None
    ]


def token_gain(changes: Iterable[Change], mint: Pubkey) -> int:
    held = [
        (
            change.was.amount if change.was and change.was.mint == mint else 0,
            change.becomes.amount if change.becomes and change.becomes.mint == mint else 0,
        )
        for change in changes
    ]
    return sum(after - before for before, after in held)


def lamports_lost(
    before: ClusterAccount | None, after: ClusterAccount | None, changes: Iterable[Change], wallet: Pubkey
) -> int:
    """Return what the wallet and its token accounts lose together, without wrapped SOL; rent between them cancels.

    Anyone can give lamports to the account of wrapped SOL while it is not open; a transaction that opens and closes it
    takes them from there.
    """
    wrapped = associated_account(wallet, WRAPPED_SOL, TOKEN)
    lost = own_lamports(before, None) - own_lamports(after, None)
    for change in changes:
        if change.was is not None or change.becomes is not None or change.key == wrapped:
            lost += own_lamports(change.before, change.was) - own_lamports(change.after, change.becomes)
    return lost


def own_lamports(account: ClusterAccount | None, token: TokenAccount | None) -> int:
    """Return an account's lamports without those that are its balance of wrapped SOL."""
    if account is None:
        return 0
    return account.lamports - (token.amount if token is not None and token.is_native else 0)


def fee_gain(before: Accounts, after: Accounts, fee_account: Pubkey) -> int:
    return _balance(after.get(fee_account)) - _balance(before.get(fee_account))


def _balance(account: ClusterAccount | None) -> int:
    found = token_account(account) if account is not None else None
    return found.amount if found is not None else 0


def is_unused(account: ClusterAccount | None) -> bool:
    """Whether there is nothing under a key, or only lamports."""
    return account is None or (account.owner == SYSTEM and not account.data)
