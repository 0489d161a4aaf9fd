"""Says what can't be swept by the facts alone, before the swap API is asked for anything."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import structlog
from solders.pubkey import Pubkey

from sweepapi.errors import (
    BuildDisabled,
    FieldError,
    InsufficientBalance,
    InvalidRequest,
)
from sweepapi.solana.encoding.accounts import Holding, token_account
from sweepapi.solana.encoding.addresses import SYSTEM, public_key
from sweepapi.solana.packing.compute_budget import LAMPORTS_PER_SIGNATURE
from sweepapi.solana.tokens.mints import Mint
from sweepapi.worth.left_out import INSUFFICIENT_BALANCE, NOT_HELD, LeftOut
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.solana_v1 import obstacles
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.stages import SolanaTransaction
from sweeps.rails.solana_v1.build.terms import fee_account

log = structlog.get_logger(__name__)

FEE_ACCOUNT_UNUSABLE = "Sweeps can't end in this token now: the account that is paid the fee can't receive it."


@dataclass(frozen=True)
class Sellable:
    """A token of the request with the account that holds it."""

    token: TokenInput
    mint: Mint
    holding: Holding


def sellable_tokens(request: BuildRequest, facts: ClusterFacts) -> tuple[list[Sellable], list[LeftOut]]:
    """Return the tokens of a request that a swap could take from the wallet, and the others with the reason.

    Raises ``InvalidRequest``: a wallet that can't sweep, decimals that contradict the chain.
    """
    _refuse_wallet(request, facts)
    contradicted = list(_contradictions(request, facts))
    if contradicted:
        raise InvalidRequest(details=contradicted)
    receives = facts.associated(facts.output_mint)
    if receives is not None and receives.token.is_frozen:
        raise InvalidRequest(details=[FieldError("outputMint", obstacles.FROZEN.code, obstacles.FROZEN.message)])
    found = [_find(token, facts) for token in request.tokens]
    sellable = [one for one in found if isinstance(one, Sellable)]
    return sellable, [one for one in found if isinstance(one, LeftOut)]


def _refuse_wallet(request: BuildRequest, facts: ClusterFacts) -> None:
    if facts.account is not None and (facts.account.owner != SYSTEM or facts.account.data):
        raise InvalidRequest(details=[FieldError("wallet", "not_a_wallet", "A program owns this account.")])
    if request.wallet == facts.fee_wallet:
        # Its output account would be the fee account, so what the user receives could not be told from the fee.
        message = "The wallet that is paid the platform fee can't sweep."
        raise InvalidRequest(details=[FieldError("wallet", "protocol_recipient", message)])


def needed_lamports(facts: ClusterFacts, transactions: Sequence[SolanaTransaction] = (), *, sells: bool = True) -> int:
    """Return what the wallet has to hold for the fees of these transactions, and rent.

    Without transactions, which are not composed yet, one is assumed that closes as much as it creates. A sweep that
    ``sells`` nothing needs no account for the output.
    """
    creates_account = sells and facts.associated(facts.output_mint) is None
    rents = [facts.wallet_rent, facts.token_account_rent if creates_account else 0]
    for transaction in transactions:
        # A new account's rent may leave the wallet with less than its own, if closed accounts give that back.
        created = sum(holding.rent_lamports for holding in transaction.creates) + transaction.effects.route_rent
        closed = sum(holding.rent_lamports for holding in transaction.closes)
        rents += [created, facts.wallet_rent + created - closed]
    return (sum(transaction.fee_lamports for transaction in transactions) or LAMPORTS_PER_SIGNATURE) + max(rents)


def refuse_insufficient_lamports(facts: ClusterFacts, *, sells: bool) -> None:
    """Raise ``InsufficientBalance`` if the wallet can't even pay for a simulation, so that nothing can be proven."""
    needed = needed_lamports(facts, sells=sells)
    if facts.lamports < needed:
        message = f"The wallet needs {needed} lamports for fees and rent, and has {facts.lamports}."
        raise InsufficientBalance(details=[FieldError("wallet", "insufficient_balance", message)])


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


def _find(token: TokenInput, facts: ClusterFacts) -> Sellable | LeftOut:
    key = public_key(token.asset)
    mint, holding = facts.mints[key], facts.associated(key)
    obstacle = obstacles.UNKNOWN_MINT if mint is None else obstacles.of_mint(mint)
    if obstacle is None and holding is not None:
        obstacle = obstacles.of_holding(holding)
    if obstacle is None and mint is not None and holding is not None and holding.token.amount >= token.amount:
        return Sellable(token, mint, holding)
    of_mint = [other.token.amount for other in facts.holdings.values() if other.token.mint == key]
    if obstacle is None and any(amount >= token.amount for amount in of_mint):
        obstacle = obstacles.NOT_ASSOCIATED
    if obstacle is not None:
        return LeftOut(token.asset, token.amount, obstacle.code, obstacle.message)
    return LeftOut(token.asset, token.amount, INSUFFICIENT_BALANCE, NOT_HELD.format(balance=sum(of_mint)))
