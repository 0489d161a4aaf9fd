"""What was booked in an hour, so that the console's figures of months need not read millions of entries."""

from typing import ClassVar

from django.db import models

from partners.models import Partner
from sweepapi.fields import AccountAddressField, NetworkField, SignedAmountField


class HourlySum(models.Model):
    """The sums of one hour for a partner and an asset; ``hourly_sums`` writes them again until the hour is over.

    Reversals count in the hour in which they were booked, so a sum may be negative.
    """

    hour = models.DateTimeField()  # its beginning
    network = NetworkField()
    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="+", db_index=False)
    asset = AccountAddressField()
    executions = models.IntegerField()
    volume = SignedAmountField()  # gross outputs, in the asset's smallest unit, as the two fees
    partner_fees = SignedAmountField()
    protocol_fees = SignedAmountField()
    # The same in millionths of the reference stablecoin, at the prices of the offers; what had no price adds nothing.
    volume_micros = SignedAmountField()
    partner_micros = SignedAmountField()
    protocol_micros = SignedAmountField()
    accepted = models.IntegerField()  # executions that were reported, and not found
    seconds = models.FloatField()  # from the report to the acceptance, over all of these

    class Meta:
        ordering: ClassVar = ["hour"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["hour", "network", "partner", "asset"], name="hourly_sum_is_unique")
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H:00} {self.partner_id} {self.asset}"
