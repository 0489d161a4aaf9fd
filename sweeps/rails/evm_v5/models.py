"""The V5 rail's own tables: the authorizations that it signed, and cancellations on chain."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from sweepapi.evm.contracts.batch import HARD_CAP_BPS
from sweepapi.evm.contracts.v5 import Authorization
from sweepapi.fees import BPS_DENOMINATOR
from sweepapi.fields import AddressField, Hash32Field, NetworkField, Uint256Field
from sweepapi.postgres.triggers import append_only
from sweeps.models import Execution, Offer


class FeeAuthorization(models.Model):
    """The EIP-712 message that the service signed for an offer, as it was signed."""

    offer = models.OneToOneField(Offer, on_delete=models.PROTECT, related_name="authorization")
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
    token_count = models.PositiveSmallIntegerField()  # how many legs the hash covers
    digest = Hash32Field()
    signature = models.CharField(max_length=132)
    signer = AddressField()

    class Meta:
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.CheckConstraint(
                name="authorization_bps_in_range",
                condition=Q(total_fee_bps__lte=HARD_CAP_BPS, partner_share_bps__lte=BPS_DENOMINATOR),
            ),
        ]

    def __str__(self) -> str:
        return f"nonce {self.nonce} on chain {self.chain_id}"

    @property
    def message(self) -> Authorization:
        """What was signed."""
        return Authorization(
            user=self.user,
            partner_id=self.partner_onchain_id,
            partner_recipient=self.partner_recipient,
            protocol_recipient=self.protocol_recipient,
            output_token=self.output_token,
            total_fee_bps=self.total_fee_bps,
            partner_share_bps=self.partner_share_bps,
            nonce=self.nonce,
            deadline=self.deadline_seconds,
            legs_hash=self.legs_hash,
        )


class Cancellation(models.Model):
    """A request to cancel an execution's authorization on chain; the worker sends it while the execution is open."""

    execution = models.OneToOneField(Execution, on_delete=models.PROTECT, related_name="cancellation")
    last_error = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"cancellation of {self.execution}"


class CancellationTransaction(models.Model):
    """A transaction signed for a cancellation, stored before it is sent; a stuck one is replaced at a higher fee."""

    cancellation = models.ForeignKey(Cancellation, on_delete=models.PROTECT, related_name="transactions")
    network = NetworkField()
    account = AddressField()  # the fee signer of that time
    account_nonce = models.PositiveBigIntegerField()
    attempt = models.PositiveSmallIntegerField()  # counts from zero for each nonce of the account
    gas = models.PositiveBigIntegerField()
    max_fee = Uint256Field()  # wei per unit of gas
    priority_fee = Uint256Field()  # as above
    tx_hash = Hash32Field(unique=True)
    raw = models.BinaryField()
    signed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["id"]
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["network", "account", "account_nonce", "attempt"], name="account_nonce_once_an_attempt"
            ),
        ]

    def __str__(self) -> str:
        return self.tx_hash
