"""Compares the contracts of chains with the configuration, whole, and tells each difference.

The exit status is for whoever runs it every day: 0 all is as configured, 1 something differs, 3 a chain did not answer
(and nothing else differs), 2 the command or the configuration can't be understood.
"""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from sweepapi import chains
from sweepapi.evm.chains import Chain
from sweepapi.evm.deployment.audit import audit
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
        found = [self._check(chain) for chain in named or chains.enabled() if named or chain.v5_contract is not None]
        worst = next((status for status in (DIFFERENT, NO_ANSWER) if status in found), 0)
        if worst:
            sys.exit(worst)

    def _check(self, chain: Chain) -> int:
        try:
            found = audit(specification=chains.specification(chain), pool=chains.pool(chain.chain_id))
        except SpecificationError as error:
            raise CommandError(str(error), returncode=NOT_UNDERSTOOD) from error
        except ChainUnavailableError as error:
            self.stderr.write(f"{chain.name}: {error}")
            return NO_ANSWER
        for difference in found.differences:
            self.stdout.write(f"{chain.name}: {difference}")
        for operation in found.scheduled:
            self.stdout.write(f"{chain.name}: scheduled: {operation}")
        self.stdout.write(f"{chain.name}: {len(found.differences) or 'no'} differences")
        return DIFFERENT if found.differences else 0


def _chain(name: str) -> Chain:
    chain = chains.find(name)
    if chain is None:
        message = f"{name} is not in {settings.CHAINS_FILE.name}, or RPC_URLS_{name.upper()} is not set."
        raise CommandError(message, returncode=NOT_UNDERSTOOD)
    return chain
