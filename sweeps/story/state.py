"""A stored sweep as its partner sees it; reads the database, never the chain."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet, prefetch_related_objects

from ledger.models import Posting
from ledger.reading import postings_of
from partners.authentication import Requester
from sweepapi.errors import SweepNotFound
from sweepapi.fees import NOTHING, Split, split
from sweepapi.modes import in_mode
from sweeps.models import (
    Execution,
    Offer,
    SkippedToken,
    Sweep,
    SweepStatus,
    SweepToken,
    SweepTransaction,
    TokenOutcome,
)
from sweeps.protocol.rail import Rail
from sweeps.rails.registry import RAILS

_RELATED = (
    "executions__skipped",
    "transactions",
    "tokens",
    Prefetch("offers", Offer.objects.order_by("-sequence")),
    "events",
    "watched_block",
)


@dataclass(frozen=True)
class TokenState:
    """A token and what became of it; ``outcome`` is None until its execution has happened."""

    token: SweepToken
    outcome: TokenOutcome | None
    skip_reason: str | None  # None unless skipped


@dataclass(frozen=True)
class ExecutionState:
    """One execution of a sweep, with its tokens and the transaction to show."""

    execution: Execution
    tokens: Sequence[SweepToken]
    transaction: SweepTransaction | None


@dataclass(frozen=True)
class SweepState:
    """A sweep with everything that is shown of it, read in a fixed number of queries."""

    sweep: Sweep
    rail: Rail

    @classmethod
    def of(cls, sweep: Sweep) -> "SweepState":
        prefetch_related_objects([sweep], *_RELATED)
        return cls(sweep, RAILS[sweep.rail])

    @property
    def executions(self) -> Sequence[Execution]:
        return list(self.sweep.executions.all())

    @property
    def execution_states(self) -> Sequence[ExecutionState]:
        return [
            ExecutionState(
                execution,
                [token for token in self.sweep.tokens.all() if token.execution_id == execution.pk],
                _shown([tx for tx in self.transactions if tx.execution_id == execution.pk]),
            )
            for execution in self.executions
        ]

    @cached_property
    def token_states(self) -> Sequence[TokenState]:
        executed = {one.pk for one in self.executions if one.status == Execution.Status.EXECUTED}
        skipped = {one.token_id: one for execution in self.executions for one in execution.now_skipped}
        return [
            _token_state(token, skipped.get(token.pk), is_executed=token.execution_id in executed)
            for token in self.sweep.tokens.all()
        ]

    @property
    def skipped_count(self) -> int:
        """How many tokens were left out by an execution."""
        return sum(len(execution.now_skipped) for execution in self.executions)

    @property
    def transactions(self) -> Sequence[SweepTransaction]:
        return list(self.sweep.transactions.all())

    @cached_property
    def entries(self) -> Sequence[Posting]:
        return list(postings_of(self.sweep.id))

    @property
    def shown_transaction(self) -> SweepTransaction | None:
        return _shown(self.transactions)

    @property
    def accepted_hashes(self) -> Sequence[str]:
        return [tx.tx_hash for tx in _accepted(self.transactions)]

    @property
    def expected_fees(self) -> Split | None:
        """The split of the output that the newest offer expects; None if the sweep was adopted."""
        if self.sweep.is_adopted:
            return None
        newest = self.sweep.offers.all()[0]
        return split(newest.expected_gross, self.sweep.total_fee_bps, self.sweep.partner_share_bps)

    @property
    def actual_fees(self) -> Split | None:
        """The sum over all executions; None unless completed."""
        if self.sweep.status != SweepStatus.COMPLETED:
            return None
        return sum((execution.amounts for execution in self.executions), start=NOTHING)


def _token_state(token: SweepToken, skipped: SkippedToken | None, *, is_executed: bool) -> TokenState:
    if skipped is None:
        return TokenState(token, TokenOutcome.SWEPT if is_executed else None, None)
    return TokenState(token, skipped.outcome, skipped.reason if skipped.outcome == TokenOutcome.SKIPPED else None)


def _shown(transactions: Sequence[SweepTransaction]) -> SweepTransaction | None:
    """Return the accepted transaction, otherwise the newest."""
    return next(_accepted(transactions), transactions[-1] if transactions else None)


def _accepted(transactions: Sequence[SweepTransaction]) -> Iterator[SweepTransaction]:
    return (tx for tx in transactions if tx.status == SweepTransaction.Status.ACCEPTED)


def visible_to(requester: Requester, *, rails: Collection[str]) -> Q:
    """Return the condition that a sweep on one of these rails is of the key's partner and mode."""
    return in_mode(requester.mode) & Q(partner=requester.partner_id, rail__in=rails)


def sweep_of_partner(requester: Requester, sweep_id: UUID, *, rails: Collection[str]) -> Sweep:
    """Return a sweep on one of these rails; raises ``SweepNotFound``, for any that the key does not reach too."""
    sweep = Sweep.objects.filter(visible_to(requester, rails=rails), id=sweep_id).first()
    if sweep is None:
        raise SweepNotFound
    return sweep


@dataclass(frozen=True, kw_only=True)
class HistoryFilter:
    """Which sweeps to list; None matches all."""

    network: str | None = None
    status: str | None = None
    wallet: str | None = None
    client_reference: str | None = None
    since: datetime | None = None  # built then or later
    until: datetime | None = None  # built before


def sweeps_of_partner(requester: Requester, chosen: HistoryFilter, *, rails: Collection[str]) -> QuerySet[Sweep]:
    """Return the sweeps on these rails that the key reaches and that match the filter."""
    sweeps = Sweep.objects.filter(visible_to(requester, rails=rails))
    conditions = {
        "network": chosen.network,
        "status": chosen.status,
        "wallet": chosen.wallet,
        "client_reference": chosen.client_reference,
        "created_at__gte": chosen.since,
        "created_at__lt": chosen.until,
    }
    return sweeps.filter(**{lookup: value for lookup, value in conditions.items() if value is not None})
