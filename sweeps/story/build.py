"""Building a sweep: plan it, issue it, store it, answer with what the user signs and sends; a quote is only planned."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from partners.models import Partner
from sweepapi.errors import BuildDisabled, NewBuildRequired, TooManyOffers
from sweepapi.monitoring import metrics
from sweepapi.networks import Networks
from sweepapi.postgres.clock import database_time
from sweeps.models import BuildStop, Execution, Offer, Sweep, SweepToken
from sweeps.protocol.rail import BelowMinimumError, Identity, IssuedSweep, Offered, PlannedSweep, Quoted, Rail
from sweeps.protocol.request import BuildRequest
from sweeps.rails.registry import BY_MODE, RAILS
from sweeps.serializers.rendering import rendered
from sweeps.store import transitions
from sweeps.store.stored import StoredSweep
from sweeps.store.writing import write
from sweeps.story.decided import refuse_unexecutable

# Offers of one sweep: two a minute until the default deadline. Each is signed and stored.
MAX_OFFERS = 30
RETRY_AFTER_SECONDS = 60  # while builds are stopped

AnswerT = TypeVar("AnswerT")


def build_sweep(
    registry: Networks, *, partner: Partner, request: BuildRequest, answered: Callable[[dict[str, Any]], AnswerT]
) -> AnswerT:
    """Build, issue and store a sweep, and return what ``answered`` makes of the answer's data in that transaction.

    Raises ``BuildDisabled`` while they are stopped, and whatever the rail's ``plan`` raises; nothing is stored then.
    """
    rail = BY_MODE[registry.build_mode(request.network)]
    _refuse_stopped(request.network, partner.id)
    with metrics.counted_build(request.network):
        issued = rail.issue(rail.plan(registry=registry, partner=partner, request=request), registry=registry)
        with transaction.atomic():
            _refuse_stopped(request.network, partner.id)  # what was signed meanwhile is not handed out
            stored = _built(rail, issued)
            transitions.built(stored)
            write([stored])
            return answered(_store_offer(rail, issued, stored.sweep, sequence=1))


def quote_sweep(registry: Networks, *, partner: Partner, request: BuildRequest) -> Quoted:
    """Return what a build would offer now; reserves, signs and stores nothing, and raises what a build raises."""
    rail = BY_MODE[registry.build_mode(request.network)]
    _refuse_stopped(request.network, partner.id)
    return Quoted(rail, rail.plan(registry=registry, partner=partner, request=request))


def renew_offer(registry: Networks, sweep: Sweep, *, answered: Callable[[dict[str, Any]], AnswerT]) -> AnswerT:
    """Offer a sweep again with current routes, and return what ``answered`` makes of the answer's data, as above.

    Its terms and deadline do not change, and the user's signature stays valid; raises ``NewBuildRequired`` where
    prices or another contract do not allow that. Raises the error of a sweep that is decided, ``TooManyOffers``, and
    whatever the rail's ``plan`` raises otherwise.
    """
    _require_renewable(sweep)
    _refuse_stopped(sweep.network, sweep.partner_id)
    rail = RAILS[sweep.rail]
    try:
        planned = rail.plan(registry=registry, partner=sweep.partner, request=BuildRequest.of(sweep), renewed=sweep)
    except BelowMinimumError as error:
        message = f"{error} Build a new one, unless the user has executed this one."
        raise NewBuildRequired(message) from error
    issued = rail.issue(planned, registry=registry, renewed=sweep)
    with transaction.atomic():
        locked = Sweep.objects.select_for_update().get(id=sweep.id)
        _require_renewable(locked)
        _refuse_stopped(sweep.network, sweep.partner_id)
        return answered(_store_offer(rail, issued, locked, sequence=locked.offers.count() + 1))


def _refuse_stopped(network: str, partner_id: UUID) -> None:
    """Raise ``BuildDisabled`` while builds of the partner on the network are stopped."""
    here = (Q(network=None) | Q(network=network)) & (Q(partner=None) | Q(partner_id=partner_id))
    if BuildStop.objects.filter(here, lifted_at=None).exists():
        raise BuildDisabled(retry_after_seconds=RETRY_AFTER_SECONDS)


def _require_renewable(sweep: Sweep) -> None:
    refuse_unexecutable(sweep)
    if sweep.offers.count() >= MAX_OFFERS:
        raise TooManyOffers


def _built(rail: Rail, issued: IssuedSweep) -> StoredSweep:
    planned, request, now = issued.planned, issued.planned.request, database_time()
    sweep = Sweep(
        id=issued.sweep_id,
        partner=planned.partner,
        rail=rail.name,
        network=request.network,
        wallet=request.wallet,
        client_reference=request.client_reference,
        output_asset=planned.output.asset,
        output_symbol=planned.output.symbol,
        output_decimals=planned.output.decimals,
        slippage_bps=request.slippage_bps,
        accepted_impact_bps=request.accepted_impact_bps,
        unlimited_approvals=request.unlimited_approvals,
        wallet_atomic=request.wallet_says.atomic.value if request.wallet_says.atomic else "",
        wallet_takes_gas_limits=request.wallet_says.takes_gas_limits,
        gas_is_sponsored=request.wallet_says.gas_is_sponsored,
        accepts_uneconomic=request.accepts_uneconomic,
        leaves_out=request.leaves_out,
        closes_accounts=request.close_empty_accounts,
        unwraps_coin=request.unwraps_coin,
        price_percentile=request.price_percentile,
        **vars(planned.fees),
        min_gross=planned.minimum.gross_output,
        deadline=issued.deadline,
        created_at=now,
        next_check_at=issued.first_check_at(now),
    )
    stored = StoredSweep(sweep, now)
    for position, identity in enumerate(issued.identities):
        _add_execution(stored, planned, identity, position=position)
    return stored


def _add_execution(stored: StoredSweep, planned: PlannedSweep, identity: Identity, *, position: int) -> None:
    execution = Execution(
        sweep=stored.sweep,
        position=position,
        network=stored.sweep.network,
        venue=identity.venue,
        execution_id=identity.execution_id,
        min_gross=identity.min_gross,
        built_at_height=planned.height,
    )
    stored.executions.append(execution)
    stored.tokens += (
        SweepToken(
            sweep=stored.sweep,
            execution=execution,
            position=i,
            asset=planned.tokens[i].asset,
            amount=planned.tokens[i].amount,
            symbol=planned.tokens[i].symbol,
            decimals=planned.tokens[i].decimals,
        )
        for i in identity.tokens
    )


def _store_offer(rail: Rail, issued: IssuedSweep, sweep: Sweep, *, sequence: int) -> dict[str, Any]:
    """Store an offer, and return the data of its answer."""
    planned = issued.planned
    offer = Offer.objects.create(
        sweep=sweep,
        sequence=sequence,
        expected_gross=planned.expected.gross_output,
        expected_micros=planned.expected_micros,
    )
    offered = Offered(rail, sweep, offer, issued)
    rail.store(offered)
    return rendered(rail.present.answer, offered)
