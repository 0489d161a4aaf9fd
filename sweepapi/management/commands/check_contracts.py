"""Compares the contracts of chains with the configuration, whole, and tells each difference.

The exit status is for whoever runs it every day: 0 all is as configured, 1 something differs, else 2 the command or the
configuration can't be understood, else 3 a chain did not answer. Every provider is asked for itself, so that none can
hide what another one shows.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from sweepapi import networks
from sweepapi.evm.chains import Chain
from sweepapi.evm.deployment.audit import Audit, audit
from sweepapi.evm.errors import ChainUnavailableError, SpecificationError

DIFFERENT, NOT_UNDERSTOOD, NO_ANSWER = 1, 2, 3


class Command(BaseCommand):
    """``check_contracts [<chain>…]``."""

    help = "Compare code, values, roles and allow-lists on chain with the configuration: what / configured / on chain."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take chains by name."""
        parser.add_argument("chain", nargs="*", help="By default every chain that has providers and contracts.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's own
        """Check each chain; ends with the worst status."""
        named = [_chain(name) for name in options["chain"]]
        checked = named or [chain for chain in networks.current().enabled if chain.v5_contract is not None]
        if not checked:
            raise CommandError("Nothing is checked: no chain has providers and contracts.", returncode=NOT_UNDERSTOOD)
        found = {self._check(chain) for chain in checked}
        worst = next((status for status in (DIFFERENT, NOT_UNDERSTOOD, NO_ANSWER) if status in found), 0)
        if worst:
            sys.exit(worst)

    def _check(self, chain: Chain) -> int:
        try:
            audits = list(self._audits(chain))
        except SpecificationError as error:
            self.stderr.write(f"{chain.name}: {error}")
            return NOT_UNDERSTOOD
        if not audits:
            return NO_ANSWER
        differences = Counter(str(difference) for found in audits for difference in dict.fromkeys(found.differences))
        for difference, shown in differences.items():
            by = "" if shown == len(audits) else f" (by {shown} of {len(audits)} providers)"
            self.stdout.write(f"{chain.name}: {difference}{by}")
        for operation in dict.fromkeys(operation for found in audits for operation in found.scheduled):
            self.stdout.write(f"{chain.name}: scheduled: {operation}")
        self.stdout.write(f"{chain.name}: {len(differences) or 'no'} differences")
        return DIFFERENT if differences else 0

    def _audits(self, chain: Chain) -> Iterator[Audit]:
        """Yield what each provider shows; one that does not answer, or not wholly, is told and left out."""
        registry = networks.current()
        specification, pool = registry.specification(chain), registry.pool(chain.network)
        for provider in pool.providers:
            try:
                yield audit(specification=specification, pool=replace(pool, providers=[provider]))
            except ChainUnavailableError as error:
                self.stderr.write(f"{chain.name}: {provider!r}: {error}")


def _chain(name: str) -> Chain:
    chain = networks.current().find(name)
    if chain is None:
        message = f"{name} is not in {settings.CHAINS_FILE.name}, or RPC_URLS_{name.upper()} is not set."
        raise CommandError(message, returncode=NOT_UNDERSTOOD)
    return chain
