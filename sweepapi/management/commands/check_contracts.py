"""Compares the contracts of chains with the configuration and reports every difference.

Exit status, for a daily job: 0 no difference, 1 a difference, or an operation that waits for its delay and was not
announced, else 2 an invalid command or configuration, else 3 a chain did not answer. Each provider is checked on its
own, so that none can hide what another shows.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import SpecificationError
from sweepapi.evm.deployment.audit import Audit, audit
from sweepapi.evm.deployment.scheduled import announced_calls
from sweepapi.rpc.errors import ChainUnavailableError

DIFFERENT, INVALID, NO_ANSWER = 1, 2, 3


class Command(BaseCommand):
    """``check_contracts [<chain>…]``."""

    help = "Compare code, values, roles and allow-lists on chain with the configuration: what / configured / on chain."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("chain", nargs="*", help="Default: every chain that has providers and contracts.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's own
        """Check each chain and exit with the worst status."""
        named = [_chain(name) for name in options["chain"]]
        checked = named or [chain for chain in networks.current().enabled if chain.v5_contract is not None]
        if not checked:
            raise CommandError("Nothing to check: no chain has providers and contracts.", returncode=INVALID)
        found = {self._check(chain) for chain in checked}
        worst = next((status for status in (DIFFERENT, INVALID, NO_ANSWER) if status in found), 0)
        if worst:
            sys.exit(worst)

    def _check(self, chain: Chain) -> int:
        try:
            announced = announced_calls(settings.CHANGES_FILE, chain)
            audits = list(self._audits(chain))
        except SpecificationError as error:
            self.stderr.write(f"{chain.name}: {error}")
            return INVALID
        if not audits:
            return NO_ANSWER
        differences = Counter(str(difference) for found in audits for difference in dict.fromkeys(found.differences))
        for difference, seen in differences.items():
            by = "" if seen == len(audits) else f" (seen by {seen} of {len(audits)} providers)"
            self.stdout.write(f"{chain.name}: {difference}{by}")
        surprises = 0
        for operation in dict.fromkeys(operation for found in audits for operation in found.scheduled):
            is_announced = operation.call in announced
            surprises += not is_announced
            self.stdout.write(f"{chain.name}: scheduled{'' if is_announced else ', and not announced'}: {operation}")
        count = len(differences)
        self.stdout.write(f"{chain.name}: {count or 'no'} difference{'' if count == 1 else 's'}")
        return DIFFERENT if differences or surprises else 0

    def _audits(self, chain: Chain) -> Iterator[Audit]:
        """Yield an audit per provider; reports and skips a provider that fails or returns incomplete logs."""
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
        raise CommandError(message, returncode=INVALID)
    return chain
