"""The tables of the Solana rail: what was composed for each execution, and how far fee accounts were read."""

from typing import ClassVar

from django.db import models

from sweepapi.fields import AccountAddressField, NetworkField
from sweepapi.postgres.triggers import append_only
from sweeps.models import Execution
from sweeps.store.reading import read_with_sweeps


@read_with_sweeps
class BuiltTransaction(models.Model):
    """The transaction that the user was given for one execution."""

    execution = models.OneToOneField(Execution, on_delete=models.PROTECT, related_name="built")
    last_valid_block_height = models.PositiveBigIntegerField()  # of the blockhash that it was given with
    # A wallet may put in a newer blockhash, so only above this block is it called expired.
    awaited_until_height = models.PositiveBigIntegerField()
    fee_account = AccountAddressField()  # the token account that is paid the fee
    # All but those of the compute budget, which wallets change: {program, accounts, data in base64}, in their order.
    instructions = models.JSONField()

    class Meta:
        triggers: ClassVar = append_only()
        indexes: ClassVar = [models.Index(fields=["fee_account"], name="built_for_fee_account")]

    def __str__(self) -> str:
        return f"transaction for {self.execution_id}"


class ScannedSlots(models.Model):
    """How far the transactions of a fee account were compared with ours; all that landed in lower slots is settled."""

    network = NetworkField()
    account = AccountAddressField()
    next_slot = models.PositiveBigIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["network", "account"], name="scanned_slots_of_account"),
        ]
