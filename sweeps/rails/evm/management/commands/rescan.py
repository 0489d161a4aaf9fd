"""Has final blocks read again after they were replaced: what they show now was not there when they were read."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from sweepapi import networks
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.rails.evm.reconcile.reconciling import rescan

MAX_DIGITS = 18  # what fits the database


def _block(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        raise ArgumentTypeError("must be the number of a block")
    return int(text)


class Command(BaseCommand):
    """``rescan <network> <from_block>``."""

    help = "Have the next run of the reconciliation read every contract of a network again, from a block on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("network", help="The chain's name, or a CAIP-2 identifier.")
        parser.add_argument("from_block", type=_block, help="The first block to read again.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        """Move the cursors back and print each that moved."""
        network, from_block = _network(options["network"]), options["from_block"]
        if not ScannedBlocks.objects.filter(network=network).exists():
            raise CommandError(f"No contract on {options['network']} has been scanned yet.")
        moved = rescan(network=network, from_block=from_block)
        for contract, next_block in moved:
            self.stdout.write(f"{contract}: block {from_block} is next, was {next_block}")
        if not moved:
            self.stdout.write(f"Nothing changed: no contract was scanned beyond block {from_block}.")


def _network(text: str) -> str:
    registry = networks.current()
    chain = registry.chains.get(text)
    network = text if chain is None else chain.network
    if network not in registry.known:
        raise CommandError(f"No chain has the name or CAIP-2 identifier {text}.")
    return network
