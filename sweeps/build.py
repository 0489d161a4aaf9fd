"""Building a sweep: from a partner's wish to a signed authorization and a transaction the user can send.

The steps stand in ``build_sweep``: read the market, refuse what can't work, choose routes, reserve nonces, sign, store.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from partners.models import Partner
from sweepapi import chains
from sweepapi.errors import BuildDisabled, ChainUnavailable, UnsupportedChain
from sweepapi.evm.addresses import NATIVE_COIN
from sweepapi.evm.chains import Chain
from sweepapi.evm.errors import ChainUnavailableError
from sweeps import nonces
from sweeps.amounts import Split, split
from sweeps.market import Facts, Market, Quotes, Swept
from sweeps.models import Sweep
from sweeps.modes import V5_PARTNER_FEES
from sweeps.plan import BuildRequest, PlannedLeg, plan, refuse_bad_tokens, refuse_unroutable, transfer_probes
from sweeps.signing import Signed, sign
from sweeps.storing import store


@dataclass(frozen=True)
class Built:
    """A stored sweep with what only its builder is told."""

    sweep: Sweep
    chain: Chain
    facts: Facts
    quotes: Quotes
    planned: Sequence[PlannedLeg]
    signed: Signed
    expected: Split
    minimum: Split


def build_sweep(*, partner: Partner, request: BuildRequest) -> Built:
    """Build, sign and store a sweep.

    Raises ``BuildDisabled``, ``UnsupportedChain``, ``ChainUnavailable``, ``InvalidRequest`` (a token that is none or
    contradicts its hints), ``NoRoute`` and ``InsufficientOutput``; nothing is stored then but, at most, a nonce gap.
    """
    market = _market(request)
    facts, quotes = _read(request, market)
    planned = plan(request, quotes)
    expected = split(sum(leg.expected_output for leg in planned), settings.TOTAL_FEE_BPS, partner.fee_share_bps)
    minimum = split(sum(leg.min_output for leg in planned), settings.TOTAL_FEE_BPS, partner.fee_share_bps)
    reserved = nonces.reserve(
        chain=market.chain, contract=market.contract, wallet=request.wallet, used_words=facts.used_permit_words
    )
    signed = sign(
        partner=partner,
        request=request,
        market=market,
        head=facts.head,
        planned=planned,
        min_user_output=minimum.user_amount,
        reserved=reserved,
    )
    sweep = store(partner=partner, request=request, market=market, facts=facts, planned=planned, signed=signed)
    return Built(sweep, market.chain, facts, quotes, planned, signed, expected, minimum)


def _market(request: BuildRequest) -> Market:
    if settings.EVM_BUILD_MODE != V5_PARTNER_FEES:
        raise BuildDisabled(retry_after_seconds=300)
    chain = chains.find(request.chain)
    if chain is None or chain.v5_contract is None or chain.protocol_recipient is None:
        raise UnsupportedChain
    return Market(
        chain=chain,
        pool=chains.pool(chain.chain_id),
        wallet=request.wallet,
        contract=chain.v5_contract,
        protocol_recipient=chain.protocol_recipient,
        output=chain.wrapped_native if request.output_mint == NATIVE_COIN else request.output_mint,
    )


def _read(request: BuildRequest, market: Market) -> tuple[Facts, Quotes]:
    swept = [Swept(wish.mint, wish.amount) for wish in request.tokens]
    words = nonces.permit_words(chain=market.chain, wallet=request.wallet)
    try:
        facts = market.read_facts(swept=swept, permit_words=words)
        if facts.paused:
            raise BuildDisabled("The contract is paused.", retry_after_seconds=60)
        refuse_bad_tokens(request, market, facts)
        quotes = market.read_quotes(swept=swept, facts=facts)
        transfers = market.read_transfers(probes=transfer_probes(request, market, facts, quotes), facts=facts)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error
    refuse_unroutable(request, market, quotes, transfers)
    return facts, quotes
