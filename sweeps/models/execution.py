"""The executions of a sweep on chain, the candidate transactions of each, and the tokens that it left out."""

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from uuid_utils.compat import uuid7

from ledger.models import JournalEntry
from sweepapi.fees import NOTHING, Split
from sweepapi.fields import AccountAddressField, NetworkField, TransactionHashField, Uint256Field
from sweepapi.postgres.triggers import append_only
from sweeps.models.sweep import Sweep, SweepToken, null_if_adopted

AMOUNTS = ("gross_output", "total_fee", "partner_fee", "protocol_fee", "user_amount")


class Execution(models.Model):
    """One operation that can happen on chain at most once. A sweep on an EVM chain has one."""

    class Status(models.TextChoices):
        """Its outcome. All but ``pending`` are decided; while the execution is open, they can still change."""

        PENDING = "pending"
        EXECUTED = "executed"
        FAILED = "failed"  # a transaction was reported for it, or took its identity, and none executed it
        EXPIRED = "expired"  # no transaction was ever reported for it
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="executions", db_index=False)
    position = models.PositiveSmallIntegerField(default=0)
    network = NetworkField()
    venue = AccountAddressField()  # where it happens: a contract, or the account that is paid the fee
    execution_id = models.CharField(max_length=128)  # unique at the venue, chosen by us
    min_gross = null_if_adopted(Uint256Field())
    # The head at build time, before which it can't have happened; if the sweep was adopted, the block of the event.
    built_at_height = models.PositiveBigIntegerField()

    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    closed_at = models.DateTimeField(null=True, blank=True)  # null while the chain may still change it
    booking_epoch = models.PositiveIntegerField(default=0)  # rises with each reversal, so that it can be booked again
    ledger_entry = models.OneToOneField(
        JournalEntry, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )  # null unless executed for a fee above zero
    cancellation_tx_hash = TransactionHashField(null=True, blank=True)  # of what cancelled it; null unless cancelled
    search_cursor = models.CharField(max_length=128, blank=True)  # where the rail's search goes on; blank if none runs

    # The executed amounts; all null unless executed.
    gross_output = Uint256Field(null=True, blank=True)
    total_fee = Uint256Field(null=True, blank=True)
    partner_fee = Uint256Field(null=True, blank=True)
    protocol_fee = Uint256Field(null=True, blank=True)
    user_amount = Uint256Field(null=True, blank=True)

    # What the build fixed; the store refuses to write over it.
    FIXED: ClassVar = frozenset(
        ("id", "sweep_id", "position", "network", "venue", "execution_id", "min_gross", "built_at_height")
    )

    class Meta:
        ordering: ClassVar = ["sweep", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["network", "venue", "execution_id"], name="execution_identity_on_chain"),
            models.UniqueConstraint(fields=["sweep", "position"], name="execution_position"),
            models.CheckConstraint(
                name="execution_status_known",
                condition=Q(status__in=["pending", "executed", "failed", "expired", "cancelled"]),
            ),
            models.CheckConstraint(
                name="execution_has_amounts_if_executed",
                condition=Q(status="executed", **{f"{name}__isnull": False for name in AMOUNTS})
                | Q(~Q(status="executed"), **{f"{name}__isnull": True for name in AMOUNTS}, ledger_entry__isnull=True),
            ),
            models.CheckConstraint(
                name="execution_has_a_cancellation_if_cancelled",
                condition=Q(status="cancelled", cancellation_tx_hash__isnull=False)
                | Q(~Q(status="cancelled"), cancellation_tx_hash__isnull=True),
            ),
            models.CheckConstraint(
                name="execution_has_a_minimum_unless_adopted",
                condition=Q(min_gross__isnull=False) | Q(status="executed", closed_at__isnull=False),
            ),
            models.CheckConstraint(
                name="execution_split_adds_up",
                condition=Q(gross_output__isnull=True)
                | Q(
                    gross_output=F("user_amount") + F("partner_fee") + F("protocol_fee"),
                    total_fee=F("partner_fee") + F("protocol_fee"),
                ),
            ),
            models.CheckConstraint(
                name="execution_pending_is_open", condition=~Q(status="pending") | Q(closed_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.execution_id} at {self.venue} on {self.network}"

    @property
    def amounts(self) -> Split:
        """The executed amounts, or zeros."""
        if self.status != self.Status.EXECUTED:
            return NOTHING
        return Split(*(getattr(self, name) for name in AMOUNTS))

    @amounts.setter
    def amounts(self, amounts: Split | None) -> None:
        for name in AMOUNTS:
            setattr(self, name, getattr(amounts, name) if amounts is not None else None)

    @property
    def now_skipped(self) -> "list[SkippedToken]":
        """The tokens that it left out, unless that was reversed."""
        return [one for one in self.skipped.all() if one.booking_epoch == self.booking_epoch]


class SweepTransaction(models.Model):
    """A candidate: a hash that was reported for an execution, or found for it; at most one of them is accepted."""

    class Status(models.TextChoices):
        """The outcome of this hash."""

        SUBMITTED = "submitted"
        ACCEPTED = "accepted"
        REVERTED = "reverted"
        REJECTED = "rejected"  # mined, and does not match what was signed
        REPLACED = "replaced"  # another candidate was executed
        DROPPED = "dropped"  # not mined in time
        DISPLACED = "displaced"  # never seen, and no longer looked up in favour of newer ones, unless reported again

    class Source(models.TextChoices):
        """Where this hash came from."""

        PARTNER = "partner"
        DISCOVERED = "discovered"

    class Awaits(models.TextChoices):
        """What is missing before a mined transaction counts."""

        BLOCK = "block"  # one that providers show at the height of its receipt, or that is safe
        AGREEMENT = "agreement"  # of a second provider

    class Finality(models.TextChoices):
        """How deep its block lies."""

        NONE = "none"
        INCLUDED = "included"
        SAFE = "safe"
        FINAL = "final"

    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="transactions")  # that of its execution
    execution = models.ForeignKey(Execution, on_delete=models.PROTECT, related_name="transactions", db_index=False)
    tx_hash = TransactionHashField()
    status = models.CharField(max_length=16, choices=Status, default=Status.SUBMITTED)
    awaits = models.CharField(max_length=16, choices=Awaits, blank=True)  # blank while there is no receipt, or decided
    shown_since = models.DateTimeField(
        null=True, blank=True
    )  # since when a provider shows it; null unless it awaits that
    contradicted_since = models.DateTimeField(null=True, blank=True)  # and since when another one contradicts that
    source = models.CharField(max_length=16, choices=Source, default=Source.PARTNER)
    finality = models.CharField(max_length=16, choices=Finality, default=Finality.NONE)
    block_number = models.PositiveBigIntegerField(null=True, blank=True)  # null until found in a block
    block_hash = models.CharField(max_length=88, blank=True)  # blank until then
    confirmations = models.PositiveBigIntegerField(default=0)  # blocks on top, itself included, at its last check
    gas_used = models.PositiveBigIntegerField(null=True, blank=True)  # null until found in a block
    logs_digest = models.CharField(max_length=64, blank=True)  # of what was accepted, if its rail makes one
    # Of the event among the contract's logs in the transaction, as two providers show it once that is final; null
    # unless accepted, and on Solana, which has no logs.
    log_position = models.PositiveBigIntegerField(null=True, blank=True)
    submitted_at = models.DateTimeField(default=timezone.now)  # when it was last reported, or found
    confirmed_at = models.DateTimeField(null=True, blank=True)  # null unless accepted
    reason = models.TextField(blank=True)

    FIXED: ClassVar = frozenset(("id", "sweep_id", "execution_id", "tx_hash", "source"))

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["tx_hash"], name="candidate_by_hash"),  # the console's search knows nothing else
            # The books are compared with the events of some blocks.
            models.Index(fields=["block_number"], condition=Q(status="accepted"), name="candidate_accepted_by_block"),
            # The metrics count what has been contradicted for long.
            models.Index(
                fields=["contradicted_since"],
                condition=Q(contradicted_since__isnull=False),
                name="candidate_contradicted",
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="candidate_status_known",
                condition=Q(
                    status__in=["submitted", "accepted", "reverted", "rejected", "replaced", "dropped", "displaced"],
                    finality__in=["none", "included", "safe", "final"],
                ),
            ),
            models.CheckConstraint(
                name="candidate_awaits_while_submitted",
                condition=Q(awaits="", shown_since__isnull=True, contradicted_since__isnull=True)
                | Q(awaits__in=["block", "agreement"], status="submitted", shown_since__isnull=False),
            ),
            models.UniqueConstraint(fields=["execution", "tx_hash"], name="candidate_once_an_execution"),
            models.UniqueConstraint(
                fields=["execution"], condition=Q(status="accepted"), name="candidate_accepted_once_an_execution"
            ),
            models.CheckConstraint(
                name="candidate_accepted_is_in_a_block",
                condition=Q(
                    ~Q(block_hash=""), status="accepted", confirmed_at__isnull=False, block_number__isnull=False
                )
                | (~Q(status="accepted") & Q(confirmed_at__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return self.tx_hash

    def wait(self, awaits: Awaits, *, now: datetime, is_contradicted: bool) -> None:
        """Note what is missing before it counts; after a contradiction the time starts again."""
        if is_contradicted:
            self.contradicted_since = self.contradicted_since or now
        elif self.contradicted_since is not None:
            self.shown_since = self.contradicted_since = None
        self.awaits, self.shown_since = awaits, self.shown_since or now

    def stop_waiting(self) -> None:
        """Forget what was missing: it was decided, or no provider shows it any more."""
        self.awaits, self.shown_since, self.contradicted_since = "", None, None

    @property
    def block(self) -> tuple[int, str]:
        """Height and hash of the block that it was found in; raises ``ValueError`` if it never was."""
        if self.block_number is None:
            raise ValueError(f"{self.tx_hash} was never found in a block")
        return self.block_number, self.block_hash

    @property
    def is_live(self) -> bool:
        """Whether it may still be mined, and is looked up."""
        return self.status == self.Status.SUBMITTED


def confirmations_at(head_number: int, block_number: int, *, before: int) -> int:
    """Return the blocks on top of a block, itself included; they never decrease, because a provider may lag."""
    return max(before, head_number - block_number + 1)


class TokenOutcome(models.TextChoices):
    """What an execution did with a token."""

    SWEPT = "swept"
    SKIPPED = "skipped"  # by the contract
    DROPPED = "dropped"  # by the offer


class SkippedToken(models.Model):
    """A token that an execution left out, which stayed with the user; a reversal of the execution keeps it."""

    class Reason(models.TextChoices):
        """Why."""

        DROPPED = "dropped"  # by the offer
        BELOW_LEAST = "below_least"  # its pool would have paid too little
        NOT_FILLED = "not_filled"  # its pool could not take the whole amount

    execution = models.ForeignKey(Execution, on_delete=models.PROTECT, related_name="skipped", db_index=False)
    booking_epoch = models.PositiveIntegerField()  # the execution's at that time; it counts while they are the same
    token = models.ForeignKey(SweepToken, on_delete=models.PROTECT, related_name="skipped")
    reason = models.CharField(max_length=16, choices=Reason)

    class Meta:
        ordering: ClassVar = ["execution", "booking_epoch", "token__position"]
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["execution", "booking_epoch", "token"], name="skipped_once_a_booking"),
            models.CheckConstraint(
                name="skipped_reason_known", condition=Q(reason__in=["dropped", "below_least", "not_filled"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.token} ({self.reason})"

    @property
    def outcome(self) -> TokenOutcome:
        return TokenOutcome.DROPPED if self.reason == self.Reason.DROPPED else TokenOutcome.SKIPPED
