"""What a simulated transaction may do to a wallet: take swept tokens and the fee, give the minimum, nothing else.

Every account that the transaction can write to is compared before and after, so nothing that it does can stay unseen.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from solders.pubkey import Pubkey

from sweepapi.fees import FeeRates
from sweepapi.solana.encoding.accounts import ClusterAccount, TokenAccount, rent_of, token_account
from sweepapi.solana.encoding.addresses import (
    LOOKUP_TABLE,
    METADATA,
    SYSTEM,
    TOKEN,
    TOKEN_PROGRAMS,
    WRAPPED_SOL,
    associated_account,
)
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.tokens.mints import has_only_burnt_and_harvested
from sweepapi.solana.trial.changes import (
    Accounts,
    Change,
    change_of,
    fee_gain,
    is_unused,
    lamports_lost,
    own_lamports,
    token_gain,
)

# Programs whose accounts obey an authority that no balance shows: nonces, stakes, votes, tables, programs, metadata.
_GUARDED_PROGRAMS = {
    SYSTEM,
    LOOKUP_TABLE,
    METADATA,
    Pubkey.from_string("Stake11111111111111111111111111111111111111"),
    Pubkey.from_string("Vote111111111111111111111111111111111111111"),
    Pubkey.from_string("Config1111111111111111111111111111111111111"),
    Pubkey.from_string("BPFLoaderUpgradeab1e11111111111111111111111"),
    Pubkey.from_string("LoaderV411111111111111111111111111111111111"),
}
_AMOUNT = slice(64, 72)  # of a token account's data
_MAX_ACCOUNT_BYTES = 512  # with all that a mint can require
_MAX_CREATED_PER_LEG = 4  # the output's, and those between the steps of a route
_MAX_ROUTE_RENT_PER_LEG = 5_000_000  # lamports: of one or two accounts of a user at an exchange


@dataclass(frozen=True)
class TransactionTerms:
    """What one transaction was composed to do."""

    wallet: Pubkey
    swept: Mapping[Pubkey, int]  # the amount of each token account that its legs sell
    output_mint: Pubkey  # wrapped SOL means that the wallet receives SOL
    minimum: int
    fee_account: Pubkey
    fees: FeeRates
    legs: int
    closed: frozenset[Pubkey]  # the accounts that our instructions close
    changed_mints: frozenset[Pubkey]  # which our instructions change: of what they burn, and of fees that they harvest
    fee_lamports: int  # of the transaction, as simulated
    token_account_rent: int  # of an account without extensions
    rent_programs: frozenset[Pubkey]  # whose accounts a route may create, and have the wallet pay their rent


@dataclass(frozen=True)
class Effects:
    """What the transaction does, in the output token's units."""

    user_gain: int
    fee_gain: int
    lamports_lost: int  # by the wallet and its token accounts, without output: at most the transaction's fee
    route_rent: int  # lamports that the wallet loses in addition, to accounts that the route creates


def check_effects(before: Accounts, after: Accounts, terms: TransactionTerms) -> Effects:
    """Compare every writable account of a transaction; raises ``UnsafeSwapError`` for any effect beyond the terms."""
    _check_wallet(after[terms.wallet])
    changes = [change_of(key, before[key], after[key], terms.wallet) for key in before if key != terms.wallet]
    for change in changes:
        _check(change, terms)
    _check_number_created(changes, terms)
    lost = lamports_lost(before[terms.wallet], after[terms.wallet], changes, terms.wallet)
    user_gain = token_gain(changes, terms.output_mint)
    rent = _route_rent(changes, terms)
    if terms.output_mint == WRAPPED_SOL:
        # What arrives and what is paid are lamports alike, so the whole rent is taken for the wallet's.
        user_gain, lost = user_gain + terms.fee_lamports + rent - lost, terms.fee_lamports
    else:
        rent = min(rent, max(lost - terms.fee_lamports, 0))
        lost -= rent
    effects = Effects(user_gain, fee_gain(before, after, terms.fee_account), lost, rent)
    _check_totals(effects, terms)
    return effects


def _check_wallet(account: ClusterAccount | None) -> None:
    if account is not None and (account.owner != SYSTEM or account.data or account.executable):
        raise UnsafeSwapError("it assigns the wallet to a program")


def _check(change: Change, terms: TransactionTerms) -> None:
    if change.was is not None:
        _check_kept(change, change.was, terms)
    elif change.becomes is not None:
        _check_created(change, change.becomes, terms)
    else:
        _check_foreign(change, terms)


def _check_kept(change: Change, was: TokenAccount, terms: TransactionTerms) -> None:
    """Check a token account that the wallet had before."""
    if change.becomes is not None:
        if not _differ_in_amount_only(change.before, change.after):
            raise UnsafeSwapError(f"it changes who may use the token account {change.key}")
        lost = was.amount - change.becomes.amount
    elif not is_unused(change.after):
        raise UnsafeSwapError(f"it takes the token account {change.key} away from the wallet")
    elif _is_unwrapped(change.key, terms):
        return
    elif change.key not in terms.closed:
        raise UnsafeSwapError(f"it closes the token account {change.key}")
    else:
        lost = was.amount
    swept = terms.swept.get(change.key, 0)
    if lost > swept:
        raise UnsafeSwapError(f"it takes {lost} of {was.mint}, of which {swept} are swept")


def _is_unwrapped(key: Pubkey, terms: TransactionTerms) -> bool:
    """Whether closing this account is how the wallet receives SOL; its balance arrives there too."""
    return terms.output_mint == WRAPPED_SOL and key == associated_account(terms.wallet, WRAPPED_SOL, TOKEN)


def _check_created(change: Change, created: TokenAccount, terms: TransactionTerms) -> None:
    """Check a token account that the wallet did not have before."""
    associated = associated_account(created.owner, created.mint, created.program)
    if not is_unused(change.before) or change.key != associated:
        raise UnsafeSwapError(f"it makes the wallet the owner of {change.key}, which is not an associated account")
    if created.delegate is not None or created.close_authority is not None or created.is_frozen:
        raise UnsafeSwapError(f"it lets others use the new token account {change.key}")
    # What was there before the account was created, another gave.
    given = change.before.lamports if change.before is not None else 0
    if change.after is not None and own_lamports(change.after, created) > max(_max_rent(change.after, terms), given):
        raise UnsafeSwapError(f"it pays more rent than the new token account {change.key} needs")


def _check_number_created(changes: Iterable[Change], terms: TransactionTerms) -> None:
    """Check that the wallet does not pay the rent of accounts that a swap does not need."""
    created = sum(change.was is None and change.becomes is not None for change in changes)
    if created > terms.legs * _MAX_CREATED_PER_LEG:
        raise UnsafeSwapError(f"it creates {created} token accounts for {terms.legs} swaps")


def _max_rent(account: ClusterAccount, terms: TransactionTerms) -> int:
    """Return the rent of a token account of this size."""
    return rent_of(min(len(account.data), _MAX_ACCOUNT_BYTES), terms.token_account_rent)


def _route_rent(changes: Iterable[Change], terms: TransactionTerms) -> int:
    """Return the rent of the accounts of listed programs that the transaction creates, up to what legs may charge."""
    rents = [
        min(
            change.after.lamports - own_lamports(change.before, None),
            rent_of(len(change.after.data), terms.token_account_rent),
        )
        for change in changes
        if is_unused(change.before) and change.after is not None and change.after.owner in terms.rent_programs
    ]
    return min(sum(max(rent, 0) for rent in rents), terms.legs * _MAX_ROUTE_RENT_PER_LEG)


def _check_foreign(change: Change, terms: TransactionTerms) -> None:
    """Check an account that is not a token account of the wallet, but may obey it."""
    if change.before is None or change.before == change.after or not change.before.data:
        return
    if change.before.owner in _GUARDED_PROGRAMS:
        raise UnsafeSwapError(f"it changes {change.key}, an account of the program {change.before.owner}")
    if change.before.owner in TOKEN_PROGRAMS:
        _check_foreign_tokens(change, change.before, terms)


def _check_foreign_tokens(change: Change, before: ClusterAccount, terms: TransactionTerms) -> None:
    """Check what the wallet can do as a mint's authority: change the mint, freeze accounts, take fees they withheld."""
    was, becomes = token_account(before), token_account(change.after) if change.after is not None else None
    is_ours = change.key in terms.changed_mints and has_only_burnt_and_harvested(before, change.after)
    if was is None and bytes(terms.wallet) in before.data and not is_ours:
        raise UnsafeSwapError(f"it changes {change.key}, of which the wallet is an authority")
    if was is not None and becomes is not None:
        if was.is_frozen != becomes.is_frozen:
            raise UnsafeSwapError(f"it freezes or thaws the token account {change.key}")
        if was.has_hidden_balance and not becomes.has_hidden_balance:
            raise UnsafeSwapError(f"it takes withheld fees out of the token account {change.key}")


def _check_totals(effects: Effects, terms: TransactionTerms) -> None:
    if effects.lamports_lost > terms.fee_lamports:
        raise UnsafeSwapError(f"it takes {effects.lamports_lost} lamports, for a fee of {terms.fee_lamports}")
    if effects.user_gain < terms.minimum:
        raise UnsafeSwapError(f"the wallet receives {effects.user_gain}, less than the minimum {terms.minimum}")
    gross = effects.user_gain + effects.fee_gain
    if not terms.fees.matches(gross, effects.fee_gain, swaps=terms.legs):
        raise UnsafeSwapError(
            f"the fee account receives {effects.fee_gain} of {gross}, not {terms.fees.total_fee_bps} bps"
        )


def _differ_in_amount_only(before: ClusterAccount | None, after: ClusterAccount | None) -> bool:
    return before is not None and after is not None and _without_amount(before) == _without_amount(after)


def _without_amount(account: ClusterAccount) -> tuple[Pubkey, bytes]:
    return account.owner, account.data[: _AMOUNT.start] + account.data[_AMOUNT.stop :]
