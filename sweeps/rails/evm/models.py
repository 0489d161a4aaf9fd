"""The tables that EVM rails share: legs, permits, and how far the events of contracts were compared with sweeps."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from sweepapi.evm.batch import FUNDING_APPROVED, FUNDING_NONE, FUNDING_PREFUNDED
from sweepapi.fields import AddressField, NetworkField, Uint256Field
from sweepapi.triggers import append_only
from sweeps.models import Offer, Sweep, SweepToken


class Leg(models.Model):
    """How one token is swapped in one offer: its route, and the call of the router."""

    class Funding(models.IntegerChoices):
        """How the router gets the token, numbered as in the contracts."""

        APPROVED = FUNDING_APPROVED
        PREFUNDED = FUNDING_PREFUNDED
        NONE = FUNDING_NONE

    offer = models.ForeignKey(Offer, on_delete=models.PROTECT, related_name="legs")
    token = models.ForeignKey(SweepToken, on_delete=models.PROTECT, related_name="legs")
    expected_output = Uint256Field()
    min_output = Uint256Field()
    funding = models.PositiveSmallIntegerField(choices=Funding)
    router = models.CharField(max_length=32, blank=True)  # blank where nothing is swapped
    kind = models.CharField(max_length=32, blank=True)  # as above
    target = AddressField(null=True, blank=True)  # null where nothing is swapped
    path = ArrayField(AddressField())
    fee_tiers = ArrayField(models.PositiveIntegerField(), blank=True)
    data = models.BinaryField()  # what the router is called with; empty where nothing is swapped

    class Meta:
        ordering: ClassVar = ["offer", "token__position"]
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["offer", "token"], name="leg_once_an_offer"),
            models.CheckConstraint(name="leg_minimum_positive", condition=Q(min_output__gt=0)),
            models.CheckConstraint(name="leg_funding_known", condition=Q(funding__in=[0, 1, 2])),
        ]

    def __str__(self) -> str:
        return f"{self.kind or 'no swap'} at {self.target}"


class Permit(models.Model):
    """The Permit2 nonce that the user's signature for a sweep uses; all offers of the sweep share it."""

    sweep = models.OneToOneField(Sweep, on_delete=models.PROTECT, related_name="permit")
    nonce = Uint256Field()

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
