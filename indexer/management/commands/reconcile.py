"""Compares the books of a network with its final blocks, and on request repairs what they lack."""

import json
import sys
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from indexer import books
from ledger.management.arguments import add_by, partner_named
from partners.models import Partner
from sweepapi import networks
from sweepapi.fields import TransactionHashField
from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.books.comparison import BooksDifference, Report

MAX_DIGITS = 18  # what fits the database
DIFFERENT, FAILED = 1, 2


def _block(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        raise ArgumentTypeError("must be the number of a block")
    return int(text)


def _hash(text: str) -> str:
    try:
        return TransactionHashField.canonical(text)
    except ValueError as error:
        raise ArgumentTypeError("must be the hash or signature of a transaction") from error


class Command(BaseCommand):
    """``reconcile <network> [--from-block …] [--to-block …] [--json] [--repair --by … [--partner … --tx …]]``."""

    help = "Compare sweeps and ledger with what final blocks show. Exit status: 0 equal, 1 different, 2 failed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("network", help="The network's name, or a CAIP-2 identifier.")
        parser.add_argument("--from-block", type=_block, help="A slot on Solana. By default below the first build.")
        parser.add_argument("--to-block", type=_block, help="By default the final block.")
        parser.add_argument("--json", action="store_true", help="Print the report as JSON.")
        parser.add_argument(
            "--repair", action="store_true", help="Settle what the events say, and adopt executions of lost sweeps."
        )
        add_by(parser, required=False)
        parser.add_argument("--partner", help="Whose the sweeps of --tx were. V4 and Solana do not say it.")
        parser.add_argument("--tx", type=_hash, nargs="+", default=[], help="Transactions of that partner's sweeps.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's signature
        """Compare; with --repair also repair, and compare again."""
        registry, named = networks.current(), _named(options)
        network = _network(registry, options["network"])
        try:
            report = books.compare(registry, network, first=options["from_block"], last=options["to_block"])
            if options["repair"]:
                self._repair(registry, report, named, options["by"])
                report = books.compare(registry, network, first=report.blocks.first, last=report.blocks.last)
        except ChainUnavailableError as error:
            raise CommandError(f"The chain could not be read: {error}", returncode=FAILED) from error
        except ExceptionGroup as error:
            raise CommandError(f"{error}: see settling_failed in the log", returncode=FAILED) from error
        self._show(report, as_json=options["json"])
        if report.differences:
            sys.exit(DIFFERENT)

    def _repair(self, registry: Networks, report: Report, named: Mapping[str, Partner], by: str) -> None:
        for one in books.repair(registry, report.network, report.blocks, named=named, by=by):
            became = f"adopted as sweep {one.sweep_id}" if one.sweep_id is not None else f"not adopted: {one.refusal}"
            self.stderr.write(f"{one.tx_hash} {became}")

    def _show(self, report: Report, *, as_json: bool) -> None:
        if as_json:
            differences = [difference.as_json() for difference in report.differences]
            shown = {"network": report.network, "blocks": asdict(report.blocks), "events": report.events}
            self.stdout.write(json.dumps(shown | {"differences": differences}, indent=2))
            return
        for difference in report.differences:
            self.stdout.write(_paragraph(difference))
        events, found = _counted(report.events, "event"), _counted(len(report.differences), "difference")
        self.stdout.write(f"{events} in blocks {report.blocks.first} to {report.blocks.last}: {found}.")


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _paragraph(difference: BooksDifference) -> str:
    facts = difference.as_json()
    problem, message = facts.pop("problem"), facts.pop("message")
    lines = [f"  {name.replace('_', ' ')} {value}" for name, value in facts.items() if value is not None]
    return "\n".join([f"{problem}: {message}", *lines])


def _named(options: Mapping[str, Any]) -> Mapping[str, Partner]:
    """Return the partner by each transaction that --partner is for."""
    if not options["repair"] and (options["partner"] or options["tx"] or options["by"]):
        raise CommandError("--by, --partner and --tx are for --repair.")
    if options["repair"] and not options["by"]:
        raise CommandError("--repair needs --by.")
    if bool(options["partner"]) != bool(options["tx"]):
        raise CommandError("--partner and --tx belong together.")
    return dict.fromkeys(options["tx"], partner_named(options["partner"])) if options["tx"] else {}


def _network(registry: Networks, text: str) -> str:
    network = registry.network_named(text) or registry.network_named(registry.name_of(text))
    if network is None:
        raise CommandError(f"No network that has providers has the name or CAIP-2 identifier {text}.")
    return network
