"""Records a payout from the command line, after showing what was checked."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.assets import KnownAssets
from ledger.errors import PayoutRefusedError
from ledger.management.arguments import add_by, partner_named
from ledger.payouts import CheckedPayout, check_payout, record_payout, transfer_of
from sweepapi import networks
from sweepapi.fields import NetworkField


def _units(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError("must be a whole number of the asset's smallest unit")
    return int(text)


class Command(BaseCommand):
    """``record_payout <partner> --network … --asset … --amount … --tx …``."""

    help = "Record what was paid to a partner against what the ledger owes it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("partner", help="The partner's name or id.")
        parser.add_argument("--network", required=True, help="The network's name, or a CAIP-2 identifier.")
        parser.add_argument(
            "--asset", required=True, help="The token's address; 0xEeee… for the native coin; on Solana the mint."
        )
        parser.add_argument("--amount", required=True, type=_units, help="In the asset's smallest unit.")
        parser.add_argument(
            "--tx", required=True, help="The hash of the transaction that paid; on Solana its signature."
        )
        parser.add_argument("--note", default="", help="What the books should say about it.")
        add_by(parser)
        parser.add_argument("--yes", action="store_true", help="Record it without asking.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        """Check, show, ask and record."""
        try:
            transfer = transfer_of(
                partner=partner_named(options["partner"]),
                network=_network(options["network"]),
                asset=options["asset"],
                amount=options["amount"],
                tx_hash=options["tx"],
            )
            checked = check_payout(networks.current(), transfer)
            self._show(checked)
            if not options["yes"]:
                _confirm()
            entry = record_payout(checked, note=options["note"], recorded_by=options["by"])
        except PayoutRefusedError as error:
            raise CommandError(f"{error} ({error.problem})") from error
        self.stdout.write(f"Recorded as entry {entry.pk}.")

    def _show(self, checked: CheckedPayout) -> None:
        transfer, payment = checked.transfer, checked.payment
        on_chain = "Not checked on chain: the network has no provider."
        if payment is not None:
            on_chain = f"Paid by {payment.sender} in block {payment.block_number}, which is final."
        shown = KnownAssets.of([transfer])
        facts = {
            "Partner": transfer.partner,
            "Wallet": checked.paid_to,
            "Network": networks.current().name_of(transfer.network),
            "Asset": transfer.asset,
            "Transaction": transfer.tx_hash,
            "Amount": shown.amount(transfer, transfer.amount),
            "Available before": shown.amount(transfer, checked.available),
            "Available after": shown.amount(transfer, checked.available - transfer.amount),
        }
        for label, fact in facts.items():
            self.stdout.write(f"{label:<17} {fact}")
        self.stdout.write(on_chain)


def _network(text: str) -> str:
    registry = networks.current()
    known = registry.chains.get(text) or registry.clusters.get(text)
    if known is not None:
        return known.network
    try:
        return NetworkField.canonical(text)
    except ValueError as error:
        raise CommandError(f"No network is named {text}. {error}") from error


def _confirm() -> None:
    try:
        answer = input("Record this payout? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in {"y", "yes"}:
        raise CommandError("Nothing was recorded.")
