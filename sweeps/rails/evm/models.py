"""The tables that EVM rails share: legs, permits, and what was read of the events of contracts."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from sweepapi.evm.tokens.erc20 import MAX_NAME_CHARACTERS
from sweepapi.evm.tokens.token_permits import PermitKind
from sweepapi.fields import AddressField, Hash32Field, NetworkField, Uint256Field
from sweepapi.postgres.triggers import append_only
from sweeps.models import Offer, Sweep, SweepToken
from sweeps.store.reading import read_with_sweeps


class Leg(models.Model):
    """How one token is swapped in one offer, or that the offer drops it."""

    class Hop(models.TextChoices):
        """What becomes of the token."""

        POOL = "pool"  # swapped into the output in a pool
        JOINED = "joined"  # swapped into the wrapped coin in a pool, or that coin itself, and then by the last hop
        ROUTER = "router"
        UNWRAPPED = "unwrapped"  # the wrapped coin, where the output is the native one
        DROPPED = "dropped"  # left with the user

    offer = models.ForeignKey(Offer, on_delete=models.PROTECT, related_name="legs", db_index=False)
    token = models.ForeignKey(SweepToken, on_delete=models.PROTECT, related_name="legs")
    hop = models.CharField(max_length=16, choices=Hop)
    skippable = models.BooleanField()  # the contract leaves it out if its pool pays too little
    expected_output = Uint256Field()  # zero if it is dropped
    min_output = Uint256Field()  # as above
    least_wrapped = Uint256Field(null=True, blank=True)  # what its pool must pay; null unless joined through a pool
    price_limit = Uint256Field()  # at which its pool is to stop, as ``batch.BatchHop`` has it; zero for none
    exchange = models.CharField(max_length=32, blank=True)  # the venue or router; blank where nothing is swapped
    kind = models.CharField(max_length=32, blank=True)  # as above
    target = AddressField(null=True, blank=True)  # the pool or router; null where nothing is swapped
    path = ArrayField(AddressField(), blank=True)
    fee_tiers = ArrayField(models.PositiveIntegerField(), blank=True)
    data = models.BinaryField()  # what the router is called with; empty without a router

    class Meta:
        ordering: ClassVar = ["offer", "token__position"]
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["offer", "token"], name="leg_once_an_offer"),
            models.CheckConstraint(
                name="leg_hop_known", condition=Q(hop__in=["pool", "joined", "router", "unwrapped", "dropped"])
            ),
            models.CheckConstraint(
                name="leg_minimum_positive",
                condition=Q(~Q(hop="dropped"), min_output__gt=0) | Q(hop="dropped", min_output=0),
            ),
            models.CheckConstraint(
                name="leg_skippable_in_a_pool",
                condition=Q(skippable=False) | Q(hop__in=["pool", "joined"], target__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hop} at {self.target}"


class LegPermit(models.Model):
    """The token's own permit that the user may sign in an offer instead of sending an approval of Permit2."""

    leg = models.OneToOneField(Leg, on_delete=models.PROTECT, related_name="permit")
    kind = models.CharField(max_length=16)  # the name of a ``PermitKind``
    name = models.CharField(max_length=MAX_NAME_CHARACTERS, blank=True)  # of the token, in the domain that is signed
    version = models.CharField(max_length=MAX_NAME_CHARACTERS, blank=True)  # as above
    nonce = Uint256Field()  # of the user, at the token

    class Meta:
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.CheckConstraint(
                name="leg_permit_kind_known", condition=Q(kind__in=[kind.name for kind in PermitKind])
            ),
        ]

    def __str__(self) -> str:
        return f"permit {self.nonce} of {self.name}"


class LastHop(models.Model):
    """The pool in which an offer swaps the wrapped coins of its joined legs into the output."""

    offer = models.OneToOneField(Offer, on_delete=models.PROTECT, related_name="last_hop")
    venue = models.CharField(max_length=32)
    pool = AddressField()
    fee_tier = models.PositiveIntegerField(null=True, blank=True)  # null if the pool's address contains no fee

    class Meta:
        triggers: ClassVar = append_only()

    def __str__(self) -> str:
        return f"{self.venue} at {self.pool}"


@read_with_sweeps
class Permit(models.Model):
    """What the user signs for a sweep in addition to its tokens; all offers of the sweep share it."""

    sweep = models.OneToOneField(Sweep, on_delete=models.PROTECT, related_name="permit")
    nonce = Uint256Field()  # at Permit2
    floors = ArrayField(Uint256Field())  # by position: the least for each token, after the fee
    max_skipped = models.PositiveSmallIntegerField()  # how many tokens offer and contract may leave out together

    class Meta:
        triggers: ClassVar = append_only()

    def __str__(self) -> str:
        return f"Permit2 nonce {self.nonce}"


class PermitNonces(models.Model):
    """The next Permit2 nonce of a wallet within the words that belong to this service."""

    network = NetworkField()
    wallet = AddressField()
    next_index = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["network", "wallet"], name="permit_nonces_of_wallet"),
        ]


class ScannedBlocks(models.Model):
    """How far a contract's executions were compared with ours; everything found in lower blocks is settled."""

    network = NetworkField()
    contract = AddressField()
    next_block = models.PositiveBigIntegerField()
    last_hash = Hash32Field(null=True, blank=True)  # of the block before that; null until that was read

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["network", "contract"], name="scanned_blocks_of_contract"),
        ]


class UnmatchedEvent(models.Model):
    """An event of one of our contracts, on a final block, that is not what we offered.

    The row is what the chain says; only the explanation by operators can be written later.
    """

    class Status(models.TextChoices):
        """Whether operators know why it happened."""

        OPEN = "open"
        EXPLAINED = "explained"

    network = NetworkField()
    contract = AddressField()
    name = models.CharField(max_length=64)  # of the event, in Solidity
    execution_id = models.CharField(max_length=128)  # what the contract names the execution by
    tx_hash = Hash32Field()
    block_number = models.PositiveBigIntegerField()
    block_hash = Hash32Field()
    log_position = models.PositiveBigIntegerField()  # among the contract's logs in the transaction
    facts = models.JSONField()  # all values of the event by their names, as text
    sweep = models.ForeignKey(
        Sweep, on_delete=models.PROTECT, null=True, blank=True, related_name="unmatched_events"
    )  # null unless the execution is one of ours, and the event has other terms
    reason = models.TextField()
    found_at = models.DateTimeField(auto_now_add=True)

    status = models.CharField(max_length=16, choices=Status, default=Status.OPEN)
    explanation = models.TextField(blank=True)  # blank while open
    explained_by = models.CharField(max_length=150, blank=True)  # as above
    explained_at = models.DateTimeField(null=True, blank=True)  # null while open

    class Meta:
        ordering: ClassVar = ["-id"]
        triggers: ClassVar = append_only(except_fields=["status", "explanation", "explained_by", "explained_at"])
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["network", "block_hash", "tx_hash", "contract", "log_position"],
                name="unmatched_event_identity_on_chain",
            ),
            models.CheckConstraint(
                name="unmatched_event_explained_whole",
                condition=Q(status="open", explanation="", explained_by="", explained_at__isnull=True)
                | Q(~Q(explanation=""), ~Q(explained_by=""), status="explained", explained_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} in {self.tx_hash}"
