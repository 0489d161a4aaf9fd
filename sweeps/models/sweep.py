"""The sweep itself: its terms, fixed by its first offer, and its state."""

from datetime import datetime
from typing import Any, ClassVar, TypeVar

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Greatest
from uuid_utils.compat import uuid7

from ledger.models import Settlement
from partners.models import Partner
from sweepapi.fees import BPS_DENOMINATOR
from sweepapi.fields import AccountAddressField, NetworkField, Uint256Field
from sweeps.models.watched_block import WatchedBlock

NO_PROVIDER_ANSWERED = "No provider answered in time."  # a last_error
MIN_SLIPPAGE_BPS, MAX_SLIPPAGE_BPS = 1, 5000
MAX_REFERENCE_LENGTH = 64

# What the first offer fixed and no event shows.
TERMS_OF_OFFER = ("slippage_bps", "total_fee_bps", "partner_share_bps", "min_gross", "deadline")
FieldT = TypeVar("FieldT", bound="models.Field[Any, Any]")


def null_if_adopted(field: FieldT) -> FieldT:
    """Make a term of the offer nullable, and keep its type: only what shows adopted sweeps meets a null."""
    field.null = field.blank = True
    return field


class SweepStatus(models.TextChoices):
    """The state that partners see; ``transitions.move`` is its only writer."""

    PENDING = "pending"
    COMPLETED = "completed"
    EXPIRED = "expired"
    FAILED = "failed"
    VOID = "void"


class Flag(models.TextChoices):
    """Conditions that operators should notice in addition to the status; a rail may add flags of its own."""

    BELOW_MINIMUM = "below_minimum"  # executed for less than the minimum that was quoted
    EXECUTED_AFTER_VOID = "executed_after_void"
    EXECUTED_AFTER_CLOSE = "executed_after_close"  # it was closed without this execution
    INCONSISTENT_AMOUNTS = "inconsistent_amounts"  # an event whose fees contradict the signed basis points
    CANCELLED_ON_CHAIN = "cancelled_on_chain"  # it can never be executed
    PARTIAL = "partial"  # completed, and not all of its executions were
    REORGANISED = "reorganised"  # was completed, and its block left the chain
    PARTNER_IN_DEBT = "partner_in_debt"  # the reversal of its fee left a debt, and its fee is not final again
    ADOPTED = "adopted"  # its build was lost, and it was stored from its event; it has no offer and no tokens


# Those after which someone has to look at the sweep; the others say what happened.
FLAGS_TO_REVIEW = (
    Flag.BELOW_MINIMUM,
    Flag.EXECUTED_AFTER_VOID,
    Flag.EXECUTED_AFTER_CLOSE,
    Flag.INCONSISTENT_AMOUNTS,
    Flag.PARTNER_IN_DEBT,
)


class Sweep(models.Model):
    """One build and its state.

    It is *open* until every execution is final or proven impossible, whatever its status.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="sweeps", db_index=False)
    rail = models.CharField(max_length=32)  # the name of the rail that built it, and that follows it to its end
    network = NetworkField()
    wallet = AccountAddressField()
    client_reference = models.CharField(max_length=MAX_REFERENCE_LENGTH, blank=True)  # the partner's own, not unique
    output_asset = AccountAddressField()
    output_symbol = models.CharField(max_length=32)
    output_decimals = models.PositiveSmallIntegerField()
    slippage_bps = null_if_adopted(models.PositiveSmallIntegerField())
    # What else the partner chose for its offers.
    accepted_impact_bps = models.PositiveSmallIntegerField(null=True, blank=True)  # null unless the user was asked
    unlimited_approvals = models.BooleanField(default=False)
    wallet_atomic = models.CharField(max_length=16, blank=True)  # a ``WalletAtomic``; blank if the wallet was not asked
    wallet_takes_gas_limits = models.BooleanField(default=False)
    gas_is_sponsored = models.BooleanField(default=False)
    accepts_uneconomic = models.BooleanField(default=False)
    leaves_out = models.BooleanField(default=False)
    closes_accounts = models.BooleanField(default=True)  # where a network takes rent for token accounts
    unwraps_coin = models.BooleanField(default=False)
    price_percentile = models.CharField(max_length=16, blank=True)  # of priority; blank where none is sold
    total_fee_bps = null_if_adopted(models.PositiveSmallIntegerField())
    partner_share_bps = null_if_adopted(models.PositiveSmallIntegerField())
    partner_recipient = AccountAddressField(null=True, blank=True)  # null where the partner is paid later
    protocol_recipient = AccountAddressField()
    settlement = models.CharField(max_length=16, choices=Settlement)
    min_gross = null_if_adopted(Uint256Field())  # the signed minimum of the gross output, over all executions
    deadline = null_if_adopted(models.DateTimeField())  # what was signed for it can't be executed later
    created_at = models.DateTimeField(auto_now_add=True)

    status = models.CharField(max_length=16, choices=SweepStatus, default=SweepStatus.PENDING)
    is_open = models.BooleanField(default=True)
    flags = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    last_event = models.PositiveIntegerField(
        default=1
    )  # the sequence of its newest event; the first is that it was built
    last_message = models.PositiveIntegerField(default=0)  # the sequence of the newest one about it to webhooks
    completed_at = models.DateTimeField(null=True, blank=True)  # null unless completed
    closed_at = models.DateTimeField(null=True, blank=True)  # null while open
    # Null unless it was voided or cancelled on chain; kept if it is executed afterwards.
    voided_at = models.DateTimeField(null=True, blank=True)
    void_reason = models.TextField(blank=True)
    cancellation_requested_at = models.DateTimeField(null=True, blank=True)  # null unless it was requested

    version = models.PositiveBigIntegerField(default=1, db_default=1, editable=False)  # raised by trigger

    next_check_at = models.DateTimeField(null=True, blank=True)  # null once closed, and while it awaits finality
    # That of its execution, which is checked for it; null unless the sweep is completed and open. It *awaits
    # finality* while it has one and no time of its own.
    watched_block = models.ForeignKey(
        WatchedBlock, on_delete=models.PROTECT, null=True, blank=True, related_name="sweeps", db_index=False
    )
    check_attempts = models.PositiveIntegerField(default=0)
    last_checked_at = models.DateTimeField(null=True, blank=True)  # null until the first check
    last_error = models.TextField(blank=True)
    lease_token = models.UUIDField(null=True, blank=True)  # null unless a check is under way
    lease_until = models.DateTimeField(null=True, blank=True)  # null with the token

    # What the worker claims next, in this order; null while nothing is to be checked. ``indexer.claims`` says why.
    due_at = models.GeneratedField(
        expression=Greatest("next_check_at", "lease_until"),
        output_field=models.DateTimeField(null=True),
        db_persist=True,
    )
    urgency = models.GeneratedField(
        expression=Case(
            When(next_check_at__lte=F("deadline"), status=SweepStatus.PENDING, then=0),  # it awaits a receipt
            When(status=SweepStatus.COMPLETED, then=1),
            default=2,
        ),
        output_field=models.PositiveSmallIntegerField(),
        db_persist=True,
    )

    # What the build fixed; the store refuses to write over it.
    FIXED: ClassVar = frozenset(
        (
            *("id", "partner_id", "rail", "network", "wallet", "client_reference", "created_at"),
            *("output_asset", "output_symbol", "output_decimals"),
            *("accepted_impact_bps", "unlimited_approvals", "wallet_atomic", "wallet_takes_gas_limits"),
            *("gas_is_sponsored", "accepts_uneconomic", "leaves_out"),
            *("closes_accounts", "unwraps_coin", "price_percentile"),
            *("partner_recipient", "protocol_recipient", "settlement", *TERMS_OF_OFFER),
        )
    )

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            # The history pages through these; its other filters read a partner's sweeps one by one. The search of the
            # console knows the wallet or the reference alone.
            models.Index(fields=["partner", "-created_at", "-id"], name="sweep_of_partner_by_time"),
            models.Index(fields=["wallet", "partner", "-created_at", "-id"], name="sweep_of_wallet_by_time"),
            models.Index(
                fields=["client_reference", "partner", "-created_at", "-id"],
                condition=~Q(client_reference=""),
                name="sweep_of_reference_by_time",
            ),
            # The daily limit of cancellations on chain counts these.
            models.Index(
                fields=["partner", "cancellation_requested_at"],
                condition=Q(cancellation_requested_at__isnull=False),
                name="sweep_cancelled_of_partner",
            ),
            models.Index(
                fields=["watched_block", "id"], condition=Q(watched_block__isnull=False), name="sweep_of_watched_block"
            ),
            models.Index(fields=["flags"], condition=~Q(flags=[]), name="sweep_flagged"),  # the metrics count these
            models.Index(fields=["urgency", "due_at"], condition=Q(is_open=True), name="sweep_due_by_urgency"),
        ]
        triggers: ClassVar = [
            pgtrigger.Trigger(
                name="status_leaves_an_event",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("status"),  # type: ignore[no-untyped-call]
                condition=pgtrigger.Q(old__status__df=pgtrigger.F("new__status"))
                & pgtrigger.Q(old__last_event__gte=pgtrigger.F("new__last_event")),
                func="RAISE EXCEPTION 'sweep % changes its status without an event', NEW.id "
                "USING ERRCODE = 'integrity_constraint_violation';",
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="sweep_has_an_offer_unless_adopted",
                condition=Q(~Q(flags__contains=[Flag.ADOPTED]), **{f"{name}__isnull": False for name in TERMS_OF_OFFER})
                | Q(
                    flags__contains=[Flag.ADOPTED],
                    status=SweepStatus.COMPLETED,
                    is_open=False,
                    **{f"{name}__isnull": True for name in TERMS_OF_OFFER},
                ),
            ),
            models.CheckConstraint(name="sweep_status_known", condition=Q(status__in=SweepStatus.values)),
            models.CheckConstraint(name="sweep_settlement_known", condition=Q(settlement__in=Settlement.values)),
            models.CheckConstraint(
                name="sweep_recipient_if_settled_on_chain",
                condition=Q(settlement=Settlement.ON_CHAIN, partner_recipient__isnull=False)
                | Q(settlement=Settlement.PAYABLE, partner_recipient__isnull=True),
            ),
            models.CheckConstraint(
                name="sweep_completed_has_its_time",
                condition=Q(status=SweepStatus.COMPLETED, completed_at__isnull=False)
                | Q(~Q(status=SweepStatus.COMPLETED), completed_at__isnull=True),
            ),
            models.CheckConstraint(
                name="sweep_closed_is_not_due",
                condition=Q(is_open=True, closed_at__isnull=True, next_check_at__isnull=False)
                | Q(
                    is_open=True,
                    closed_at__isnull=True,
                    status=SweepStatus.COMPLETED,
                    watched_block__isnull=False,
                    lease_token__isnull=True,
                )
                | Q(is_open=False, closed_at__isnull=False, next_check_at__isnull=True, watched_block__isnull=True),
            ),
            models.CheckConstraint(
                name="sweep_expired_is_closed", condition=~Q(status=SweepStatus.EXPIRED) | Q(is_open=False)
            ),
            models.CheckConstraint(
                name="sweep_pending_is_open", condition=~Q(status=SweepStatus.PENDING) | Q(is_open=True)
            ),
            models.CheckConstraint(
                name="sweep_void_has_time_and_reason",
                condition=~Q(status=SweepStatus.VOID) | (Q(voided_at__isnull=False) & ~Q(void_reason="")),
            ),
            models.CheckConstraint(
                name="sweep_lease_is_whole",
                condition=Q(lease_token__isnull=True, lease_until__isnull=True)
                | Q(lease_token__isnull=False, lease_until__isnull=False),
            ),
            models.CheckConstraint(
                name="sweep_bps_in_range",
                condition=Q(
                    slippage_bps__gte=MIN_SLIPPAGE_BPS,
                    slippage_bps__lte=MAX_SLIPPAGE_BPS,
                    total_fee_bps__lte=BPS_DENOMINATOR,
                    partner_share_bps__lte=BPS_DENOMINATOR,
                ),
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def planned_check_at(self) -> datetime | None:
        """When it is checked, or its block while it awaits finality; None once closed."""
        if self.next_check_at is None and self.watched_block is not None:
            return self.watched_block.due_at
        return self.next_check_at

    @property
    def is_adopted(self) -> bool:
        return Flag.ADOPTED in self.flags


# Shows a reader of the row whether anything was written since, to it or to what belongs to it. A lease does not count:
# it is renewed while its holder checks the chain. Who compares versions compares the token of the lease, too.
pgtrigger.register(
    pgtrigger.Trigger(
        name="version_rises",
        when=pgtrigger.Before,
        operation=pgtrigger.UpdateOf(  # type: ignore[no-untyped-call]
            *(
                field.column
                for field in Sweep._meta.concrete_fields  # noqa: SLF001 - Django documents it
                if not field.generated and field.column not in ("lease_token", "lease_until")
            )
        ),
        func="NEW.version := OLD.version + 1; RETURN NEW;",
    )
)(Sweep)


class SweepToken(models.Model):
    """One token that goes in."""

    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="tokens", db_index=False)
    execution = models.ForeignKey("sweeps.Execution", on_delete=models.PROTECT, related_name="tokens")
    position = models.PositiveSmallIntegerField()
    asset = AccountAddressField()
    amount = Uint256Field()
    symbol = models.CharField(max_length=32)
    decimals = models.PositiveSmallIntegerField()

    class Meta:
        ordering: ClassVar = ["sweep", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sweep", "position"], name="sweep_token_position"),
            models.UniqueConstraint(fields=["sweep", "asset"], name="sweep_token_once"),
            models.CheckConstraint(name="sweep_token_amount_positive", condition=Q(amount__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.symbol} {self.amount}"
