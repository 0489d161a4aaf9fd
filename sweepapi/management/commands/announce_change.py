"""Announces an operation before a role holder schedules it: prints what to sign, and then what the file gets."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from eth_utils.address import is_hex_address, to_checksum_address

from sweepapi import networks
from sweepapi.evm.chain.errors import SpecificationError
from sweepapi.evm.deployment.scheduled import AnnouncedChange, ScheduledCall


class Command(BaseCommand):
    """``announce_change CHAIN CALLER TARGET DATA --note TEXT [--signature 0x…]``."""

    help = (
        "Print the text that one of the chain's change_signers signs; with the signature, the entry for CHANGES_FILE."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("chain")
        parser.add_argument("caller", type=_address, help="who will schedule it")
        parser.add_argument("target", type=_address, help="the contract that will be called")
        parser.add_argument("data", type=_data, help="the calldata, as hex")
        parser.add_argument("--note", required=True, help="why, in a few words")
        parser.add_argument("--signature", help="of the text, by personal_sign")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's own
        """Print one or the other; refuse a signature that would not count."""
        chain = networks.current().find(options["chain"])
        if chain is None:
            raise CommandError(f"{options['chain']} is not a chain that has providers.")
        call = ScheduledCall(options["caller"], options["target"], options["data"])
        change = AnnouncedChange(call, chain.network, options["note"], options["signature"] or "")
        if not change.signature:
            self.stderr.write(f"It means: {call.meaning}")
            self.stdout.write(change.message)
            return
        try:
            signer = change.signer
        except SpecificationError as error:
            raise CommandError(str(error)) from None
        if signer not in chain.change_signers:
            raise CommandError(f"{signer} signed it, who is not one of the change_signers of {chain.name}.")
        self.stdout.write(json.dumps(change.as_json(), indent=2))


def _address(text: str) -> str:
    if not is_hex_address(text):
        raise ValueError(text)
    return to_checksum_address(text)


def _data(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))
