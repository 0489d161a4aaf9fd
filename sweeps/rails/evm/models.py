"""The tables that EVM rails share: legs, permits, and how far the events of contracts were compared with sweeps."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from sweepapi.fields import AddressField, NetworkField, Uint256Field
from sweepapi.triggers import append_only
from sweeps.models import Offer, Sweep, SweepToken


class Leg(models.Model):
    """How one token is swapped in one offer, or that the offer drops it."""

    class Hop(models.TextChoices):
        """What becomes of the token."""

        POOL = "pool"  # swapped into the output in a pool
        JOINED = "joined"  # swapped into the wrapped coin in a pool, or that coin itself, and then by the last hop
        ROUTER = "router"
        UNWRAPPED = "unwrapped"  # the wrapped coin, where the output is the native one
        DROPPED = "dropped"  # left with the user

    offer = models.ForeignKey(Offer, on_delete=models.PROTECT, related_name="legs")
    token = models.ForeignKey(SweepToken, on_delete=models.PROTECT, related_name="legs")
    hop = models.CharField(max_length=16, choices=Hop)
    skippable = models.BooleanField()  # the contract leaves it out if its pool pays too little
    expected_output = Uint256Field()  # zero if it is dropped
    min_output = Uint256Field()  # as above
    least_wrapped = Uint256Field(null=True, blank=True)  # what its pool must pay; null unless joined through a pool
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

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["network", "contract"], name="scanned_blocks_of_contract"),
        ]
