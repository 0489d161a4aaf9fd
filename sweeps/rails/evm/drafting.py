"""Drafts a sweep on an EVM chain: reads the market, refuses what can't work, and chooses each token's route."""

from collections.abc import Iterator, Mapping
from typing import Any

from partners.models import Partner
from sweepapi import networks
from sweepapi.errors import (
    BuildDisabled,
    ChainUnavailable,
    FieldError,
    InsufficientOutput,
    InvalidRequest,
    NoRoute,
)
from sweepapi.evm.addresses import NATIVE_COIN
from sweepapi.evm.chains import Chain
from sweepapi.evm.probe import Probe, TransferTest
from sweepapi.fees import BPS_DENOMINATOR, floor_share
from sweepapi.fields import UINT256_MAX
from sweepapi.rpc.errors import CallFailedError, ChainUnavailableError
from sweeps.rails.evm.draft import EvmDraft, EvmToken
from sweeps.rails.evm.market import Contract, Facts, Market, Quotes
from sweeps.rails.evm.sealing import permit_words
from sweeps.rails.rail import BuildRequest, FeeTerms, OutputAsset, TokenInput, symbol_warnings

TransferTests = Mapping[Probe, TransferTest | CallFailedError]


def draft(*, partner: Partner, request: BuildRequest, chain: Chain, contract: Contract, fees: FeeTerms) -> EvmDraft:
    """Plan a sweep in at most three round trips.

    Raises ``BuildDisabled`` if the contract can't execute sweeps now, ``ChainUnavailable``, ``InvalidRequest`` (an
    address that is not a token, or decimals that contradict the chain), ``NoRoute`` and ``InsufficientOutput``.
    """
    native = request.output_asset == NATIVE_COIN
    market = Market(
        chain=chain,
        pool=networks.current().pool(chain.network),
        wallet=request.wallet,
        contract=contract,
        output=chain.wrapped_native if native else request.output_asset,
    )
    facts, quotes = _read(request, market)
    output = facts.tokens[market.output]
    return EvmDraft(
        partner=partner,
        request=request,
        output=OutputAsset(request.output_asset, chain.native_symbol if native else output.symbol, output.decimals),
        fees=fees,
        tokens=_tokens(request, facts, quotes),
        height=facts.head.number,
        chain=chain,
        contract=contract.address,
        output_token=market.output,
        head=facts.head,
        used_permit_words=facts.used_permit_words,
        warnings=list(symbol_warnings(request.tokens, {a: known.symbol for a, known in facts.tokens.items()})),
    )


def _read(request: BuildRequest, market: Market) -> tuple[Facts, Quotes]:
    words = permit_words(network=market.chain.network, wallet=request.wallet)
    try:
        facts = market.read_facts(swept=request.tokens, permit_words=words)
        if facts.refusals:
            raise BuildDisabled(" ".join(facts.refusals), retry_after_seconds=60)
        _refuse_bad_tokens(request, market, facts)
        quotes = market.read_quotes(swept=request.tokens, facts=facts)
        transfers = market.read_transfers(probes=_transfer_probes(request, market, facts, quotes), facts=facts)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error
    _refuse_unroutable(request, market, quotes, transfers)
    return facts, quotes


def _refuse_bad_tokens(request: BuildRequest, market: Market, facts: Facts) -> None:
    problems = [
        problem
        for i, token in enumerate(request.tokens)
        for problem in _contradictions(token, facts, field=f"tokens[{i}]")
    ]
    if market.output not in facts.tokens:
        problems.append(FieldError("outputMint", "not_a_token", "This is not the address of an ERC-20 token."))
    if problems:
        raise InvalidRequest(details=problems)


def _contradictions(token: TokenInput, facts: Facts, *, field: str) -> Iterator[FieldError]:
    known = facts.tokens.get(token.asset)
    if known is None:
        yield FieldError(f"{field}.mint", "not_a_token", "This is not the address of an ERC-20 token.")
    elif token.decimals is not None and token.decimals != known.decimals:
        yield FieldError(f"{field}.decimals", "contradicts_chain", f"The token has {known.decimals} decimals.")


def _transfer_probes(request: BuildRequest, market: Market, facts: Facts, quotes: Quotes) -> list[Probe]:
    """Return the transfers to test: each token by its first pool and its holder, the output by the last pools.

    Every token in between is the wrapped coin, which needs no test.
    """
    probes = []
    for token in request.tokens:
        quote = quotes.best.get(token.asset)
        if quote is None:
            continue
        probes.append(Probe(token.asset, quote.route.pools[0], is_pool=True))
        probes.append(Probe(market.output, quote.route.pools[-1], is_pool=True))
        if facts.tokens[token.asset].balance > 0:
            probes.append(Probe(token.asset, request.wallet, is_pool=False))
    return list(dict.fromkeys(probes))


def _refuse_unroutable(request: BuildRequest, market: Market, quotes: Quotes, transfers: TransferTests) -> None:
    """Raise ``NoRoute`` for tokens that can't be swapped in full, ``InvalidRequest`` for such an output token."""
    refused_output = _transfer_problem(market.output, transfers, field="outputMint")
    if refused_output is not None:
        raise InvalidRequest(details=[refused_output])
    problems = []
    for i, token in enumerate(request.tokens):
        if token.asset != market.output and quotes.best.get(token.asset) is None:
            problems.append(FieldError(f"tokens[{i}].mint", "no_route", "No router can swap this amount."))
            continue
        problem = _transfer_problem(token.asset, transfers, field=f"tokens[{i}].mint")
        problems += [problem] if problem is not None else []
    if problems:
        raise NoRoute(details=problems)


def _transfer_problem(token: str, transfers: TransferTests, *, field: str) -> FieldError | None:
    """Return the most severe problem that the token's tests found; its pools and its holder must all pass."""
    tests = {probe: test for probe, test in transfers.items() if probe.token == token}
    if any(isinstance(test, TransferTest) and test.taxed for test in tests.values()):
        return FieldError(field, "transfer_fee", "The token charges a fee on transfer, so no output can be guaranteed.")
    failed = [probe for probe, test in tests.items() if isinstance(test, CallFailedError)]
    if any(probe.is_pool for probe in failed):
        return FieldError(field, "transfer_refused", "The token refuses transfers from or to the pool of its route.")
    if failed:
        return FieldError(field, "transfer_refused", "The token refuses transfers from or to this wallet.")
    return None


def _tokens(request: BuildRequest, facts: Facts, quotes: Quotes) -> list[EvmToken]:
    """Return each token with its expected and minimum output.

    Raises ``InsufficientOutput`` if a minimum is zero, and ``InvalidRequest`` if the sum exceeds a uint256.
    """
    tokens = [_token(token, facts, quotes, request.slippage_bps) for token in request.tokens]
    nothing = [
        FieldError(f"tokens[{i}].amount", "output_too_small", "The minimum output of this amount rounds to zero.")
        for i, token in enumerate(tokens)
        if token.min_output == 0
    ]
    if nothing:
        raise InsufficientOutput(details=nothing)
    if sum(token.expected_output for token in tokens) > UINT256_MAX:
        raise InvalidRequest(details=[FieldError("tokens", "out_of_range", "The outputs together exceed a uint256.")])
    return tokens


def _token(token: TokenInput, facts: Facts, quotes: Quotes, slippage_bps: int) -> EvmToken:
    known, quote = facts.tokens[token.asset], quotes.best.get(token.asset)
    state: dict[str, Any] = {
        "asset": token.asset,
        "amount": token.amount,
        "symbol": known.symbol,
        "decimals": known.decimals,
        "balance": known.balance,
        "allowance": known.allowance,
        "needs_reset": quotes.needs_reset.get(token.asset, False),
    }
    if quote is None:  # the wrapped coin on its way to native output is unwrapped, not swapped
        return EvmToken(**state, route=None, expected_output=token.amount, min_output=token.amount)
    least = floor_share(quote.expected_output, BPS_DENOMINATOR - slippage_bps)
    return EvmToken(**state, route=quote.route, expected_output=quote.expected_output, min_output=least)
