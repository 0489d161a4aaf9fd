"""A stored sweep as its partner sees it; reads the database, never the chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects

from ledger.models import Posting
from ledger.reading import postings_of
from partners.models import Partner
from sweepapi.errors import SweepNotFound
from sweepapi.fees import NOTHING, Split, split
from sweeps.models import Execution, Offer, Sweep, SweepStatus, SweepTransaction
from sweeps.rails.rail import Rail
from sweeps.rails.registry import RAILS, V2_RAILS


@dataclass(frozen=True)
class SweepState:
    """A sweep with everything that is shown of it, read in a fixed number of queries."""

    sweep: Sweep
    rail: Rail

    @classmethod
    def of(cls, sweep: Sweep) -> "SweepState":
        newest_first = Offer.objects.order_by("-sequence")
        prefetch_related_objects(
            [sweep], "executions", "transactions", "tokens", "events", Prefetch("offers", newest_first)
        )
        return cls(sweep, RAILS[sweep.rail])

    @property
    def executions(self) -> Sequence[Execution]:
        return list(self.sweep.executions.all())

    @property
    def transactions(self) -> Sequence[SweepTransaction]:
        return list(self.sweep.transactions.all())

    @cached_property
    def entries(self) -> Sequence[Posting]:
        return list(postings_of(self.sweep.id))

    @property
    def shown_transaction(self) -> SweepTransaction | None:
        """The accepted transaction, otherwise the newest."""
        transactions = self.transactions
        accepted = (tx for tx in transactions if tx.status == SweepTransaction.Status.ACCEPTED)
        return next(accepted, transactions[-1] if transactions else None)

    @property
    def expected_fees(self) -> Split:
        """The split of the output that the newest offer expects."""
        newest = self.sweep.offers.all()[0]
        return split(newest.expected_gross, self.sweep.total_fee_bps, self.sweep.partner_share_bps)

    @property
    def actual_fees(self) -> Split | None:
        """The sum over all executions; None unless completed."""
        if self.sweep.status != SweepStatus.COMPLETED:
            return None
        return sum((execution.amounts for execution in self.executions), start=NOTHING)


def sweep_of_partner(partner: Partner, sweep_id: UUID) -> Sweep:
    """Return a partner's sweep of /v2; raises ``SweepNotFound``, for another partner's or rail's sweep too."""
    sweep = Sweep.objects.filter(id=sweep_id, partner=partner, rail__in=V2_RAILS).first()
    if sweep is None:
        raise SweepNotFound
    return sweep
