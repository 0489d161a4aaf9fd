"""Builds a sweep on V5: its terms, its nonce, the user's order and the signed fee authorization.

A signature may only pay what is stored for the partner. So the planned terms are compared with the database and the
chains file right before they are signed. A difference is a mistake of ours: nothing is signed, and partners are only
shown an internal error.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from partners.models import Partner
from sweepapi.errors import BuildDisabled, UnsupportedChain
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import FeeSignerUnavailableError
from sweepapi.evm.chain.fee_models.costs import unsigned_signature
from sweepapi.evm.contracts import batch, v5
from sweepapi.evm.contracts.batch import HARD_CAP_BPS
from sweepapi.evm.contracts.nonces import COLD_WORD_GAS, NONCES, share_word
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.market.reading import Contract
from sweepapi.evm.trial.attempts import ACCEPTING_GAS, ACCEPTS_SIGNATURES
from sweepapi.evm.trial.sweep_gas import SweepGas
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.protocol.rail import FeeTerms, Identity
from sweeps.protocol.request import BuildRequest, DiscoverRequest
from sweeps.rails.evm.build import planning
from sweeps.rails.evm.build.issuing import (
    call_of,
    deadline_of,
    permission_of,
    permit_of,
    reserve_permission,
    route_of,
    signed_terms_of,
)
from sweeps.rails.evm.build.sent import unsigned_permission
from sweeps.rails.evm.build.stages import EvmPlanned, EvmSimulated, Trial
from sweeps.rails.evm.discover.discovering import SaleTerms, discover
from sweeps.rails.evm.discover.found import EvmDiscovery
from sweeps.rails.evm_v5.storing import V5Issued

log = structlog.get_logger(__name__)

RETRY_AFTER_SECONDS = 5
# A share that was replaced this recently may be the planned one: scheduled changes come while sweeps are built.
MAX_PLAN_AGE = timedelta(minutes=1)

Terms = Mapping[str, Collection[Any]]  # the values that may be signed, by the name of their field


@dataclass(frozen=True)
class V5Simulated(EvmSimulated):
    """A simulated sweep, and the nonce of the fee authorization under which it was simulated."""

    tried_nonce: int
    untried_gas: int = 0  # what the sweep uses under its own nonce that the simulation did not

    @property
    def gas(self) -> SweepGas:
        """The same, with what the nonce adds."""
        return replace(super().gas, untried=self.untried_gas)


def plan_v5(
    *, registry: Networks, partner: Partner, request: BuildRequest, renewed: Sweep | None = None
) -> V5Simulated:
    """Plan a sweep under the terms of the ``renewed`` one, or those of today.

    Raises ``UnsupportedChain`` where V5 is not deployed, and ``NewBuildRequired`` if it was replaced.
    """
    terms = _sale_terms(registry, partner, request.network)
    planned = planning.plan(
        registry=registry,
        partner=partner,
        request=request,
        contract=terms.contract,
        fees=FeeTerms.of(renewed) if renewed is not None else terms.fees,
        signed=signed_terms_of(renewed, contract=terms.contract.address) if renewed is not None else None,
    )
    nonce = NONCES.upcoming if renewed is None else int(renewed.executions.get().execution_id)
    simulated = planning.simulate(planned, _trial(planned, nonce, signer=registry.fee_signer.address))
    return V5Simulated(**simulated.facts, tried_nonce=nonce)


def discover_v5(*, registry: Networks, partner: Partner, request: DiscoverRequest) -> EvmDiscovery:
    """Read a wallet; raises ``UnsupportedChain`` where V5 is not deployed, and what ``discover`` raises."""
    return discover(registry, request, _sale_terms(registry, partner, request.network))


def _sale_terms(registry: Networks, partner: Partner, network: str) -> SaleTerms:
    chain = registry.chain(network)
    if chain.v5_contract is None or chain.protocol_recipient is None:
        raise UnsupportedChain
    fees = FeeTerms.of_today(partner, chain.protocol_recipient, partner.recipient_on(network))
    return SaleTerms(
        partner,
        chain,
        Contract(chain.v5_contract),
        fees,
        lambda planned: _trial(planned, NONCES.upcoming, signer=registry.fee_signer.address),
    )


def _trial(planned: EvmPlanned, nonce: int, *, signer: str) -> Trial:
    """Return how to try the sweep under a nonce, which is not taken; our signature is not checked."""
    permission, signature = unsigned_permission(planned), unsigned_signature("authorization")

    def arguments(attempt: EvmPlanned) -> Sequence[Any]:
        route = route_of(attempt)
        authorization = _authorization(
            attempt, nonce=nonce, deadline=permission.deadline, legs_hash=batch.hash_route(route)
        )
        return v5.sweep_arguments(route=route, authorization=authorization, signature=signature, permission=permission)

    return Trial(arguments, v5.ENTRY_POINTS, gross_output, {signer: ACCEPTS_SIGNATURES}, ACCEPTING_GAS)


def gross_output(log: Log) -> int | None:
    """Return what an executed sweep gave before the fee, from its event; None for another log."""
    event = v5.decode_executed(log)
    return None if event is None else event.gross_output


def issue(planned: V5Simulated, *, registry: Networks, renewed: Sweep | None = None) -> V5Issued:
    """Reserve the nonces and sign; with ``renewed``, sign another offer under the nonces of that sweep.

    Raises as ``sign_authorization`` does.
    """
    if renewed is None:
        nonce, permission = NONCES.take(), _reserve_permission(planned)
        min_gross = planned.minimum.gross_output
    else:
        nonce, permission = int(renewed.executions.get().execution_id), permission_of(renewed)
        min_gross = renewed.min_gross
    if not share_word(nonce, planned.tried_nonce):
        planned = replace(planned, untried_gas=COLD_WORD_GAS)
    route = route_of(planned)
    order = _order(planned, route, nonce=nonce)
    authorization = _authorization(
        planned, nonce=nonce, deadline=permission.deadline, legs_hash=batch.hash_route(route)
    )
    typed_data = authorization.typed_data(chain_id=planned.market.chain.chain_id, contract=planned.contract)
    signature = sign_authorization(
        typed_data, registry=registry, network=planned.request.network, partner_id=planned.partner.id, renewed=renewed
    )
    arguments = v5.sweep_arguments(route=route, authorization=authorization, signature=signature, permission=permission)
    return V5Issued(
        planned=planned,
        identities=[Identity(planned.contract, str(nonce), range(len(planned.tokens)), min_gross)],
        deadline=deadline_of(permission),
        route=route,
        permit=permit_of(
            planned.tokens,
            chain=planned.market.chain,
            contract=planned.contract,
            permission=permission,
            witness=order.witness,
        ),
        permission=permission,
        call=call_of(planned, contract_name=v5.CONTRACT_NAME, function=v5.SWEEP, arguments=arguments),
        entry_points=v5.ENTRY_POINTS,
        authorization=authorization,
        authorization_digest=typed_data.digest,
        signature=signature,
        signer=registry.fee_signer.address,
    )


def _reserve_permission(planned: EvmPlanned) -> batch.Permission:
    with transaction.atomic():
        return reserve_permission(planned)


def _authorization(planned: EvmPlanned, *, nonce: int, deadline: int, legs_hash: str) -> v5.Authorization:
    fees = planned.fees
    if fees.partner_recipient is None:
        raise ValueError("V5 pays the partner on chain, so it needs a recipient.")
    return v5.Authorization(
        user=planned.request.wallet,
        partner_id=planned.partner.onchain_id,
        partner_recipient=fees.partner_recipient,
        protocol_recipient=fees.protocol_recipient,
        output_token=planned.output.asset,
        total_fee_bps=fees.total_fee_bps,
        partner_share_bps=fees.partner_share_bps,
        nonce=nonce,
        deadline=deadline,
        legs_hash=legs_hash,
    )


def _order(planned: EvmPlanned, route: batch.BatchRoute, *, nonce: int) -> v5.SweepOrderV5:
    return v5.SweepOrderV5(
        output_token=planned.output.asset,
        floors=route.floors,
        max_skipped=route.max_skipped,
        total_fee_bps=planned.fees.total_fee_bps,
        partner_id=planned.partner.onchain_id,
        authorization_nonce=nonce,
    )


class UnexpectedTermsError(Exception):
    """What was about to be signed is not what is stored for the partner; nothing was signed."""


def sign_authorization(
    typed_data: TypedData, *, registry: Networks, network: str, partner_id: UUID, renewed: Sweep | None
) -> bytes:
    """Return the fee signer's signature; with ``renewed``, of another offer under the terms of that sweep.

    Raises ``UnexpectedTermsError``, and ``BuildDisabled`` while a remote signer does not answer.
    """
    differences = list(_differences(typed_data, registry.chain(network), partner_id, renewed))
    if differences:
        raise UnexpectedTermsError("; ".join(differences))
    try:
        return registry.fee_signer.sign(typed_data)
    except FeeSignerUnavailableError as error:
        log.warning("fee_signer_unavailable", error=str(error))
        raise BuildDisabled(retry_after_seconds=RETRY_AFTER_SECONDS) from error


def _differences(typed_data: TypedData, chain: Chain, partner_id: UUID, renewed: Sweep | None) -> Iterator[str]:
    partner = Partner.objects.get(id=partner_id)
    stored: Terms = {
        "chainId": [chain.chain_id],
        "verifyingContract": [chain.v5_contract],
        "partnerId": [partner.onchain_id],
        **(_terms_of_today(partner, chain) if renewed is None else _terms_of(renewed, partner)),
    }
    signed = {**typed_data.domain, **typed_data.message}
    for name, allowed in stored.items():
        if _comparable(signed[name]) not in map(_comparable, allowed):
            yield f"{name} is {signed[name]}, not {' or '.join(map(str, allowed))}"
    if not 0 <= signed["totalFeeBps"] <= HARD_CAP_BPS:
        yield f"totalFeeBps is {signed['totalFeeBps']}, above {HARD_CAP_BPS}"


def _comparable(value: object) -> object:
    """Return a value in lower case: the case of an address or a hash makes no difference to what is signed."""
    return value.lower() if isinstance(value, str) else value


def _terms_of_today(partner: Partner, chain: Chain) -> Terms:
    return {
        "partnerRecipient": [partner.recipient_on(chain.network)],
        "protocolRecipient": [chain.protocol_recipient],
        "partnerShareBps": _shares_bps(partner),
    }


def _terms_of(renewed: Sweep, partner: Partner) -> Terms:
    sweep = Sweep.objects.get(id=renewed.id, partner=partner)
    execution = sweep.executions.get()
    return {
        "verifyingContract": [execution.venue],
        "nonce": [int(execution.execution_id)],
        "deadline": [permission_of(sweep).deadline],
        "partnerRecipient": [sweep.partner_recipient],
        "protocolRecipient": [sweep.protocol_recipient],
        "partnerShareBps": [sweep.partner_share_bps],
        "totalFeeBps": [sweep.total_fee_bps],
        "user": [sweep.wallet],
        "outputToken": [sweep.output_asset],
    }


def _shares_bps(partner: Partner) -> Collection[int]:
    """Return the partner's share, and the one before if that was replaced since the plan may have read it."""
    since = ExpressionWrapper(Now() - F("effective_from"), output_field=DurationField())
    current, *former = partner.shares_at(Now()).annotate(age=since)[:2]
    was_just_replaced = current.age < MAX_PLAN_AGE
    return [share.share_bps for share in [current, *(former if was_just_replaced else [])]]
