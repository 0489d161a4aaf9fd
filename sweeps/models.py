"""A sweep and everything known about it.

A ``Sweep`` is one build. It has the tokens that go in (``SweepToken``), the message that the service signed for it
(``FeeAuthorization``) and the transactions that may have executed it (``SweepTransaction``). What happens on chain is
identified by (chain id, contract, authorization nonce); a transaction hash is a hint where to look. A sweep is *open*
until its authorization is executed and final, cancelled on chain, or proven unused after its deadline, whatever its
status says.
"""

from datetime import UTC, datetime
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from uuid_utils.compat import uuid7

from ledger.triggers import append_only
from partners.models import Partner
from sweepapi.evm import v5
from sweepapi.fields import AddressField, Hash32Field, Uint256Field

NOBODY_ANSWERED = "No provider answered in time."  # a last_error


class SweepStatus(models.TextChoices):
    """What became of a sweep; every move between them is a row of the state table in ``settle``."""

    PENDING = "pending"
    COMPLETED = "completed"
    EXPIRED = "expired"
    FAILED = "failed"
    VOID = "void"


class Flag(models.TextChoices):
    """What a person should know about a sweep beyond its status."""

    BELOW_MINIMUM = "below_minimum"  # executed for less than the minimum that was quoted
    EXECUTED_AFTER_VOID = "executed_after_void"
    INCONSISTENT_AMOUNTS = "inconsistent_amounts"  # an event whose fees contradict the signed basis points
    CANCELLED_ON_CHAIN = "cancelled_on_chain"  # its authorization can never run
    NONCE_USED = "nonce_used"  # the chain says used, and no known transaction explains it
    REORGANISED = "reorganised"  # was completed, and its block left the chain


class Sweep(models.Model):
    """One build and its life since."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="sweeps")
    chain_id = models.PositiveBigIntegerField()
    mode = models.CharField(max_length=32)
    contract_version = models.CharField(max_length=8)
    contract = AddressField()
    wallet = AddressField()
    output_token = AddressField()
    output_symbol = models.CharField(max_length=32)
    output_decimals = models.PositiveSmallIntegerField()
    slippage_bps = models.PositiveSmallIntegerField()
    expected_gross = Uint256Field()
    min_gross = Uint256Field()
    permit_nonce = Uint256Field()
    built_at_block = models.PositiveBigIntegerField()  # the head that was read for it; nothing of it happened before
    created_at = models.DateTimeField(auto_now_add=True)

    status = models.CharField(max_length=16, choices=SweepStatus, default=SweepStatus.PENDING)
    is_open = models.BooleanField(default=True)
    flags = ArrayField(models.CharField(max_length=32, choices=Flag), default=list, blank=True)
    incarnation = models.PositiveIntegerField(default=0)  # rises with each reversal, so that a new execution books anew
    completed_at = models.DateTimeField(null=True, blank=True)  # null unless completed
    closed_at = models.DateTimeField(null=True, blank=True)  # null while open
    # Null unless ops voided it, or the chain did by a cancellation; kept if it executed all the same.
    voided_at = models.DateTimeField(null=True, blank=True)
    void_reason = models.TextField(blank=True)

    # What the event said; all null unless completed.
    gross_output = Uint256Field(null=True, blank=True)
    total_fee = Uint256Field(null=True, blank=True)
    partner_fee = Uint256Field(null=True, blank=True)
    protocol_fee = Uint256Field(null=True, blank=True)
    user_amount = Uint256Field(null=True, blank=True)

    next_check_at = models.DateTimeField(null=True, blank=True)  # null once closed
    check_attempts = models.PositiveIntegerField(default=0)
    last_checked_at = models.DateTimeField(null=True, blank=True)  # null until the first look at the chain
    last_error = models.TextField(blank=True)
    search_from_block = models.PositiveBigIntegerField(null=True, blank=True)  # null unless a search is half done
    lease_token = models.UUIDField(null=True, blank=True)  # null unless a check is under way
    lease_until = models.DateTimeField(null=True, blank=True)  # null with the token

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["partner", "-id"], name="sweep_of_partner"),
            models.Index(fields=["next_check_at"], condition=Q(is_open=True), name="sweep_due"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(name="sweep_status_known", condition=Q(status__in=SweepStatus.values)),
            models.CheckConstraint(
                name="sweep_completed_has_its_facts",
                condition=Q(
                    status=SweepStatus.COMPLETED,
                    completed_at__isnull=False,
                    gross_output__isnull=False,
                    total_fee__isnull=False,
                    partner_fee__isnull=False,
                    protocol_fee__isnull=False,
                    user_amount__isnull=False,
                )
                | Q(
                    ~Q(status=SweepStatus.COMPLETED),
                    completed_at__isnull=True,
                    gross_output__isnull=True,
                    total_fee__isnull=True,
                    partner_fee__isnull=True,
                    protocol_fee__isnull=True,
                    user_amount__isnull=True,
                ),
            ),
            models.CheckConstraint(
                name="sweep_split_adds_up",
                condition=Q(gross_output__isnull=True)
                | Q(
                    gross_output=F("user_amount") + F("partner_fee") + F("protocol_fee"),
                    total_fee=F("partner_fee") + F("protocol_fee"),
                ),
            ),
            models.CheckConstraint(
                name="sweep_closed_is_not_due",
                condition=Q(is_open=True, closed_at__isnull=True, next_check_at__isnull=False)
                | Q(is_open=False, closed_at__isnull=False, next_check_at__isnull=True),
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
                name="sweep_slippage_in_range", condition=Q(slippage_bps__gte=1, slippage_bps__lte=5000)
            ),
            models.CheckConstraint(
                name="sweep_minimum_below_expectation", condition=Q(min_gross__lte=F("expected_gross"))
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    def flag(self, flag: Flag) -> None:
        """Raise a flag."""
        if flag not in self.flags:
            self.flags = [*self.flags, flag.value]

    def lower(self, flag: Flag) -> None:
        """Take a flag down: what it told of was explained, or did not happen after all."""
        self.flags = [raised for raised in self.flags if raised != flag]


class SweepToken(models.Model):
    """One token that goes in, and the route that was signed for it."""

    class Funding(models.IntegerChoices):
        """How the router gets the token, numbered as in the contract."""

        APPROVED = v5.FUNDING_APPROVED
        PREFUNDED = v5.FUNDING_PREFUNDED
        NONE = v5.FUNDING_NONE

    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="tokens")
    position = models.PositiveSmallIntegerField()
    mint = AddressField()
    amount = Uint256Field()
    symbol = models.CharField(max_length=32)
    decimals = models.PositiveSmallIntegerField()
    expected_output = Uint256Field()
    min_output = Uint256Field()
    funding = models.PositiveSmallIntegerField(choices=Funding.choices)
    router = models.CharField(max_length=32, blank=True)  # blank where nothing is swapped
    kind = models.CharField(max_length=32, blank=True)  # as above
    target = AddressField(null=True, blank=True)  # as above
    path = ArrayField(AddressField())
    fee_tiers = ArrayField(models.PositiveIntegerField(), blank=True)

    class Meta:
        ordering: ClassVar = ["sweep", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sweep", "position"], name="sweep_token_position"),
            models.UniqueConstraint(fields=["sweep", "mint"], name="sweep_token_once"),
            models.CheckConstraint(name="sweep_token_amount_positive", condition=Q(amount__gt=0)),
            models.CheckConstraint(name="sweep_token_minimum_positive", condition=Q(min_output__gt=0)),
            models.CheckConstraint(name="sweep_token_funding_known", condition=Q(funding__in=[0, 1, 2])),
        ]

    def __str__(self) -> str:
        return f"{self.symbol} {self.amount}"


class FeeAuthorization(models.Model):
    """The EIP-712 message that the service signed for a sweep, as it was signed; never changed."""

    sweep = models.OneToOneField(Sweep, on_delete=models.PROTECT, related_name="authorization")
    chain_id = models.PositiveBigIntegerField()
    contract = AddressField()
    nonce = Uint256Field()
    user = AddressField()
    partner_onchain_id = Hash32Field()
    partner_recipient = AddressField()
    protocol_recipient = AddressField()
    output_token = AddressField()
    total_fee_bps = models.PositiveSmallIntegerField()
    partner_share_bps = models.PositiveSmallIntegerField()
    deadline_seconds = models.PositiveBigIntegerField()  # seconds since 1970, as in the message
    legs_hash = Hash32Field()
    token_count = models.PositiveSmallIntegerField()  # the event's tokenCount: how many legs the hash covers
    digest = Hash32Field()
    signature = models.CharField(max_length=132)
    signer = AddressField()

    class Meta:
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["chain_id", "contract", "nonce"], name="authorization_identity_on_chain"),
            models.CheckConstraint(
                name="authorization_bps_in_range",
                condition=Q(total_fee_bps__lte=v5.HARD_CAP_BPS, partner_share_bps__lte=v5.BPS_DENOMINATOR),
            ),
        ]

    def __str__(self) -> str:
        return f"nonce {self.nonce} on chain {self.chain_id}"

    @property
    def deadline(self) -> datetime:
        """The deadline as a time in UTC."""
        return datetime.fromtimestamp(self.deadline_seconds, tz=UTC)


class SweepTransaction(models.Model):
    """A candidate: a hash that was submitted for a sweep; at most one of them is accepted."""

    class Status(models.TextChoices):
        """What became of this hash."""

        SUBMITTED = "submitted"
        ACCEPTED = "accepted"
        REVERTED = "reverted"
        REJECTED = "rejected"  # mined, and not what was signed
        REPLACED = "replaced"  # another candidate executed the sweep
        DROPPED = "dropped"  # never mined, and can't be any more

    class Source(models.TextChoices):
        """Who told of this hash."""

        PARTNER = "partner"
        DISCOVERED = "discovered"

    class Finality(models.TextChoices):
        """How deep its block lies."""

        NONE = "none"
        INCLUDED = "included"
        SAFE = "safe"
        FINAL = "final"

    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="transactions")
    tx_hash = Hash32Field()
    status = models.CharField(max_length=16, choices=Status, default=Status.SUBMITTED)
    source = models.CharField(max_length=16, choices=Source, default=Source.PARTNER)
    finality = models.CharField(max_length=16, choices=Finality, default=Finality.NONE)
    block_number = models.PositiveBigIntegerField(null=True, blank=True)  # null until seen in a block
    block_hash = Hash32Field(null=True, blank=True)  # as above
    confirmations = models.PositiveBigIntegerField(default=0)  # blocks on top, itself included, at the last look
    gas_used = models.PositiveBigIntegerField(null=True, blank=True)  # null until seen in a block
    submitted_at = models.DateTimeField(auto_now_add=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)  # null unless accepted
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="candidate_status_known",
                condition=Q(
                    status__in=["submitted", "accepted", "reverted", "rejected", "replaced", "dropped"],
                    finality__in=["none", "included", "safe", "final"],
                ),
            ),
            models.UniqueConstraint(fields=["sweep", "tx_hash"], name="candidate_once_a_sweep"),
            models.UniqueConstraint(
                fields=["sweep"], condition=Q(status="accepted"), name="candidate_accepted_once_a_sweep"
            ),
            models.CheckConstraint(
                name="candidate_accepted_is_in_a_block",
                condition=Q(
                    status="accepted", confirmed_at__isnull=False, block_number__isnull=False, block_hash__isnull=False
                )
                | (~Q(status="accepted") & Q(confirmed_at__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return self.tx_hash


class Cancellation(models.Model):
    """That a sweep's authorization shall be cancelled on chain; the worker sees to it while the sweep is open."""

    sweep = models.OneToOneField(Sweep, on_delete=models.PROTECT, related_name="cancellation")
    requested_by = models.CharField(max_length=150)  # the name of the admin's user
    reason = models.TextField()
    requested_at = models.DateTimeField(auto_now_add=True)
    last_error = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"cancellation of {self.sweep_id}"


class CancellationTransaction(models.Model):
    """A transaction signed for a cancellation, kept before it is sent; one that is stuck is signed anew, and dearer."""

    cancellation = models.ForeignKey(Cancellation, on_delete=models.PROTECT, related_name="transactions")
    chain_id = models.PositiveBigIntegerField()
    account = AddressField()  # the fee signer of that time
    account_nonce = models.PositiveBigIntegerField()
    attempt = models.PositiveSmallIntegerField()  # counts from zero for each nonce of the account
    gas = models.PositiveBigIntegerField()
    max_fee = Uint256Field()  # wei for a unit of gas
    priority_fee = Uint256Field()  # as above
    tx_hash = Hash32Field(unique=True)
    raw = models.BinaryField()
    signed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["id"]
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["chain_id", "account", "account_nonce", "attempt"], name="account_nonce_once_an_attempt"
            ),
        ]

    def __str__(self) -> str:
        return self.tx_hash


class AuthorizationNonces(models.Model):
    """The next unused authorization nonce of a contract; in sequence, so that most sweeps write a warm bitmap word."""

    chain_id = models.PositiveBigIntegerField()
    contract = AddressField()
    next_nonce = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["chain_id", "contract"], name="authorization_nonces_of_contract"),
        ]


class PermitNonces(models.Model):
    """The next Permit2 nonce of a wallet within the words that belong to this service."""

    chain_id = models.PositiveBigIntegerField()
    wallet = AddressField()
    next_index = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["chain_id", "wallet"], name="permit_nonces_of_wallet"),
        ]
