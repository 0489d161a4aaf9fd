"""A double-entry ledger of fees, with one set of accounts per asset (a token on a network).

A journal entry records one event: the fee of one execution of a sweep, a payout, or the reversal of either. Its
postings move signed amounts of the asset's smallest unit between accounts, debit positive and credit negative, and sum
to zero. An entry and its postings are written in one transaction and never change afterwards; a wrong entry is reversed
by another one. The triggers of ``ledger.triggers`` enforce this in PostgreSQL. Sweeps are referred to by UUID only.
"""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from uuid_utils.compat import uuid7

from ledger import triggers
from partners.models import Partner
from sweepapi.fields import AccountAddressField, NetworkField, SignedAmountField, TransactionHashField
from sweepapi.postgres.triggers import append_only


class Settlement(models.TextChoices):
    """How the partner gets its part of a sweep's fee."""

    ON_CHAIN = "on_chain"  # paid by the sweep's own transaction
    PAYABLE = "payable"  # accrued, and paid out later


class Asset(models.Model):
    """How an asset is shown, as the first sweep that booked it knew it; the ledger itself counts smallest units."""

    network = NetworkField()
    asset = AccountAddressField()
    symbol = models.CharField(max_length=32, blank=True)  # the token's own text, which may be blank and is hostile
    decimals = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["network", "asset"], name="asset_is_unique"),
            models.CheckConstraint(condition=Q(decimals__lte=255), name="asset_decimals_are_a_uint8"),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.symbol} {self.asset} on {self.network}"


class Account(models.Model):
    """One account of one asset. Those named ``partner_*`` also belong to a partner."""

    class Name(models.TextChoices):
        FEES_CHARGED = "fees_charged"  # what users paid, debited
        PROTOCOL_REVENUE = "protocol_revenue"  # the platform's part
        PARTNER_SETTLED = "partner_settled"  # paid to the partner on chain, by the sweep itself
        PARTNER_PAYABLE = "partner_payable"  # accrued for the partner, still owed
        PARTNER_PAID = "partner_paid"  # paid out against what was owed

    network = NetworkField()
    asset = AccountAddressField()
    name = models.CharField(max_length=20, choices=Name)
    partner = models.ForeignKey(
        Partner, on_delete=models.PROTECT, null=True, related_name="ledger_accounts"
    )  # null: the account is the platform's

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["network", "asset", "name", "partner"], nulls_distinct=False, name="account_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(
                    name__in=[
                        "fees_charged",
                        "protocol_revenue",
                        "partner_settled",
                        "partner_payable",
                        "partner_paid",
                    ]
                ),
                name="account_name_is_known",
            ),
            models.CheckConstraint(
                condition=Q(name__startswith="partner_", partner__isnull=False)
                | (~Q(name__startswith="partner_") & Q(partner__isnull=True)),
                name="account_name_says_if_it_has_a_partner",
            ),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.name} {self.asset} on {self.network}"


class JournalEntry(models.Model):
    """One booked event and what it is about."""

    class Kind(models.TextChoices):
        SWEEP_FEE = "sweep_fee"
        REVERSAL = "reversal"  # of a sweep's fee, after a reorg removed its block
        PAYOUT = "payout"
        PAYOUT_REVERSAL = "payout_reversal"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=16, choices=Kind)
    sweep_ref = models.UUIDField(null=True, db_index=True)  # null for payouts; not a foreign key: see the import rules
    execution_ref = models.UUIDField(null=True)  # null for payouts
    booking_epoch = models.PositiveIntegerField()  # rises with each reversal of an execution's or a payout's entry
    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="journal_entries", db_index=False)
    network = NetworkField()
    asset = AccountAddressField()
    wallet = AccountAddressField(null=True)  # of the sweep's user; null for payouts
    tx_hash = TransactionHashField()
    posted_at = models.DateTimeField(db_default=Now(), editable=False)  # by the database's clock, set by trigger
    reverses = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, related_name="reversed_by"
    )  # null unless a reversal
    recorded_by = models.CharField(max_length=150, blank=True)  # blank where the chain caused the entry
    note = models.TextField(blank=True)  # as above; why, in the words of who recorded it
    posted_in = models.BigIntegerField(db_default=0, editable=False)  # the database transaction's id, set by trigger

    class Meta:
        verbose_name_plural = "journal entries"
        ordering = ["-posted_at", "-id"]
        indexes = [
            models.Index(
                fields=["posted_in", "id"], name="entry_to_number"
            ),  # in the order of ``ledger.entries.numbering``
            BrinIndex(fields=["posted_at"], name="entry_by_time", autosummarize=True),  # for sums of hours
            # What partners look up among millions; other filters read their entries one by one.
            models.Index(fields=["partner", "tx_hash"], name="entry_by_transaction"),
            models.Index(fields=["partner", "wallet"], name="entry_by_wallet", condition=Q(wallet__isnull=False)),
            models.Index(fields=["partner", "kind"], name="entry_by_rare_kind", condition=~Q(kind="sweep_fee")),
        ]
        constraints = [
            models.UniqueConstraint(fields=["execution_ref", "kind", "booking_epoch"], name="entry_is_posted_once"),
            models.UniqueConstraint(
                fields=["network", "tx_hash", "partner", "asset", "booking_epoch"],
                condition=Q(kind="payout"),
                name="payout_is_booked_once",
            ),
            models.CheckConstraint(
                condition=Q(
                    kind__in=["sweep_fee", "reversal"],
                    sweep_ref__isnull=False,
                    execution_ref__isnull=False,
                )
                | Q(
                    kind__in=["payout", "payout_reversal"],
                    sweep_ref__isnull=True,
                    execution_ref__isnull=True,
                ),
                name="entry_names_its_execution",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["sweep_fee", "reversal"], recorded_by="", note="")
                | (Q(kind="payout") & ~Q(recorded_by=""))
                | (Q(kind="payout_reversal") & ~Q(recorded_by="") & ~Q(note="")),
                name="entry_names_who_recorded_it",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["sweep_fee", "payout"], reverses__isnull=True)
                | Q(kind__in=["reversal", "payout_reversal"], reverses__isnull=False),
                name="entry_names_what_it_reverses",
            ),
            models.CheckConstraint(
                condition=Q(reverses__isnull=True) | ~Q(reverses=F("id")), name="entry_reverses_another"
            ),
        ]
        triggers = [
            triggers.entry_knows_its_transaction,
            triggers.entry_takes_the_time,
            triggers.entry_is_committed_soon,
            triggers.entry_is_balanced,
            triggers.reversal_mirrors_its_original,
            *append_only(),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.id}"


class Posting(models.Model):
    """One signed movement on one account: debit positive, credit negative, never zero."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    entry = models.ForeignKey(JournalEntry, on_delete=models.PROTECT, related_name="postings")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="postings")
    amount = SignedAmountField()

    class Meta:
        ordering = ["id"]
        constraints = [models.CheckConstraint(condition=~Q(amount=0), name="posting_is_never_zero")]
        triggers = [
            triggers.posting_fits_its_entry,
            triggers.posted_entry_is_balanced,
            *append_only(),
        ]

    def __str__(self) -> str:
        return f"{self.direction} of {self.magnitude}"

    @property
    def direction(self) -> str:
        """The side of the account: ``debit`` or ``credit``."""
        return "debit" if self.amount > 0 else "credit"

    @property
    def magnitude(self) -> int:
        """The amount without its sign."""
        return abs(self.amount)
