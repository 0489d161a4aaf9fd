"""Refuses what can't be swept, by the facts alone, before the swap API is asked for anything."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import structlog
from solders.pubkey import Pubkey

from sweepapi.errors import (
    BuildDisabled,
    FieldError,
    InsufficientBalance,
    InsufficientOutput,
    InvalidRequest,
    NoRoute,
    TokensRefused,
)
from sweepapi.solana.encoding.accounts import Holding, token_account
from sweepapi.solana.encoding.addresses import SYSTEM, public_key
from sweepapi.solana.packing.compute_budget import LAMPORTS_PER_SIGNATURE
from sweepapi.solana.tokens.mints import Mint
from sweepapi.worth.losses import PRICE_IMPACT
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.solana_v1.build import obstacles
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.obstacles import Obstacle
from sweeps.rails.solana_v1.build.stages import SolanaToken, SolanaTransaction
from sweeps.rails.solana_v1.build.terms import fee_account

log = structlog.get_logger(__name__)

FEE_ACCOUNT_UNUSABLE = "Sweeps can't end in this token now: the account that is paid the fee can't receive it."


@dataclass(frozen=True)
class Sellable:
    """A token of the request with the account that holds it."""

    token: TokenInput
    mint: Mint
    holding: Holding


@dataclass(frozen=True)
class Short:
    """What the wallet holds of a token, which is not enough."""

    held: int


def sellable_tokens(request: BuildRequest, facts: ClusterFacts) -> list[Sellable]:
    """Return the tokens of a request, all of which a swap could take from the wallet.

    Raises ``InvalidRequest`` (a wallet that can't sweep, decimals that contradict the chain), ``NoRoute`` (tokens that
    can't be sold, with the reason) and ``InsufficientBalance``.
    """
    _refuse_wallet(request, facts)
    contradicted = list(_contradictions(request, facts))
    if contradicted:
        raise InvalidRequest(details=contradicted)
    receives = facts.associated(facts.output_mint)
    if receives is not None and receives.token.is_frozen:
        raise InvalidRequest(details=[FieldError("outputMint", obstacles.FROZEN.code, obstacles.FROZEN.message)])
    found = [_find(token, facts) for token in request.tokens]
    unsellable = [
        FieldError(f"tokens[{i}].mint", one.code, one.message)
        for i, one in enumerate(found)
        if isinstance(one, Obstacle)
    ]
    if unsellable:
        raise NoRoute(details=unsellable)
    short = [
        FieldError(f"tokens[{i}].amount", "insufficient", f"The wallet has {one.held}.")
        for i, one in enumerate(found)
        if isinstance(one, Short)
    ]
    if short:
        raise InsufficientBalance(details=short)
    refuse_insufficient_lamports(facts)
    return [one for one in found if isinstance(one, Sellable)]


def _refuse_wallet(request: BuildRequest, facts: ClusterFacts) -> None:
    if facts.account is not None and (facts.account.owner != SYSTEM or facts.account.data):
        raise InvalidRequest(details=[FieldError("wallet", "not_a_wallet", "A program owns this account.")])
    if request.wallet == facts.fee_wallet:
        # Its output account would be the fee account, so what the user receives could not be told from the fee.
        message = "The wallet that is paid the platform fee can't sweep."
        raise InvalidRequest(details=[FieldError("wallet", "fee_wallet", message)])


def refuse_insufficient_lamports(facts: ClusterFacts, transactions: Sequence[SolanaTransaction] = ()) -> None:
    """Raise ``InsufficientBalance`` if the wallet can't pay the fees of these transactions, and rent.

    Without transactions, which are not composed yet, one is assumed that closes as much as it creates.
    """
    creates_account = facts.associated(facts.output_mint) is None
    rents = [facts.wallet_rent, facts.token_account_rent if creates_account else 0]
    for transaction in transactions:
        # A new account's rent may leave the wallet with less than its own, if closed accounts give that back.
        created = sum(holding.rent_lamports for holding in transaction.creates)
        closed = sum(holding.rent_lamports for holding in transaction.closes)
        rents += [created, facts.wallet_rent + created - closed]
    fee_lamports = sum(transaction.fee_lamports for transaction in transactions) or LAMPORTS_PER_SIGNATURE
    needed = fee_lamports + max(rents)
    held = 0 if facts.account is None else facts.account.lamports
    if held < needed:
        message = f"The wallet needs {needed} lamports for fees and rent, and has {held}."
        raise InsufficientBalance(details=[FieldError("wallet", "insufficient", message)])


def refuse_high_impacts(tokens: Sequence[SolanaToken], *, most_bps: int) -> None:
    """Raise ``TokensRefused`` for tokens that the swap API would sell further below their price than this."""
    costly = [
        FieldError(f"tokens[{i}].mint", "price_impact_too_high", PRICE_IMPACT.format(token.quote.price_impact_bps))
        for i, token in enumerate(tokens)
        if (token.quote.price_impact_bps or 0) > most_bps
    ]
    if costly:
        raise TokensRefused(details=costly)


def refuse_losses(transactions: Sequence[SolanaTransaction]) -> None:
    """Raise ``InsufficientOutput`` for the tokens of transactions that cost more SOL than they give."""
    losses = [
        FieldError(f"tokens[{position}].amount", "output_too_small", "It is worth less than its transaction costs.")
        for transaction in transactions
        if transaction.effects.user_gain <= transaction.fee_lamports
        for position in transaction.packed.legs
    ]
    if losses:
        raise InsufficientOutput(details=losses)


def usable_output(facts: ClusterFacts) -> tuple[Mint, Pubkey]:
    """Return the output's mint and the account that is paid the fee; raises ``BuildDisabled`` if there is none."""
    output = facts.mints[facts.output_mint]
    if output is not None:
        key = fee_account(facts.fee_wallet, facts.output_mint, output.program)
        account = facts.fee_accounts[key]
        found = None if account is None else token_account(account)
        if found is not None and found.owner == public_key(facts.fee_wallet) and not found.is_frozen:
            return output, key
    log.error("fee_account_unusable", output_mint=str(facts.output_mint), fee_wallet=facts.fee_wallet)
    raise BuildDisabled(FEE_ACCOUNT_UNUSABLE, retry_after_seconds=60)


def _contradictions(request: BuildRequest, facts: ClusterFacts) -> Iterator[FieldError]:
    for i, token in enumerate(request.tokens):
        mint = facts.mints[public_key(token.asset)]
        if mint is not None and token.decimals is not None and token.decimals != mint.decimals:
            message = f"The token has {mint.decimals} decimals."
            yield FieldError(f"tokens[{i}].decimals", "contradicts_chain", message)


def _find(token: TokenInput, facts: ClusterFacts) -> Sellable | Obstacle | Short:
    key = public_key(token.asset)
    mint = facts.mints[key]
    if mint is None:
        return obstacles.UNKNOWN_MINT
    holding = facts.associated(key)
    obstacle = obstacles.of_mint(mint, epoch=facts.epoch)
    if obstacle is None and holding is not None:
        obstacle = obstacles.of_holding(holding)
    if obstacle is not None:
        return obstacle
    if holding is not None and holding.token.amount >= token.amount:
        return Sellable(token, mint, holding)
    of_mint = [other.token.amount for other in facts.holdings.values() if other.token.mint == key]
    if any(amount >= token.amount for amount in of_mint):
        return obstacles.NOT_ASSOCIATED
    return Short(sum(of_mint))
