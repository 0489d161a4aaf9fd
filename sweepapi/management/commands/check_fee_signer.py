"""Shows whether the configured fee signer signs, before its address is set in the contracts."""

from django.core.management.base import BaseCommand, CommandError

from sweepapi import networks
from sweepapi.evm.chain.errors import FeeSignerUnavailableError
from sweepapi.evm.encoding.eip712 import TypedData

# In a domain that no contract has.
HARMLESS = TypedData({"name": "check_fee_signer"}, {"Check": []}, "Check", {})


class Command(BaseCommand):
    """``check_fee_signer``."""

    help = "Sign a message that no contract accepts, and print the fee signer's address."

    def handle(self, *_args: object, **_options: object) -> None:
        """Sign once; the signer itself checks whose signature it is."""
        signer = networks.current().fee_signer
        try:
            signer.sign(HARMLESS)
        except FeeSignerUnavailableError as error:
            raise CommandError(f"The fee signer does not sign: {error}.") from None
        self.stdout.write(f"{signer.address} signs.")
