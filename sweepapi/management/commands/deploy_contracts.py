"""Deploys the contracts to a chain, configures them and hands them over; running it again completes what is missing.

Only this command reads the deployer's key, from its environment. The rest is public configuration: ``chains.toml`` and
``contracts/roles.json``. The runbook has the steps before and after.
"""

import os
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from eth_account import Account
from eth_account.signers.local import LocalAccount

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import EvmError
from sweepapi.evm.chain.sending import GWEI
from sweepapi.evm.deployment.audit import audit
from sweepapi.evm.deployment.creation import Artifacts
from sweepapi.evm.deployment.differences import DeploymentDifference
from sweepapi.evm.deployment.runner import Deployment, DeploymentPlan
from sweepapi.evm.deployment.sender import Mined
from sweepapi.evm.deployment.specification import CONTRACTS, Specification
from sweepapi.rpc.errors import RpcError

KEY = "DEPLOYER_KEY"
WEI = Decimal(10) ** 18
DIFFERENT, FAILED = 1, 2


class Command(BaseCommand):
    """``deploy_contracts <chain> [--dry-run] [--max-fee-gwei N]``."""

    help = f"Deploy the contracts to a chain as chains.toml specifies, from the account whose key is in {KEY}."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("chain")
        parser.add_argument("--dry-run", action="store_true", help="Show addresses, steps and cost; send nothing.")
        parser.add_argument("--max-fee-gwei", type=int, default=100, help="Maximum fee per unit of gas.")

    def handle(self, *_args: object, **options: Any) -> None:  # noqa: ANN401 Django's own
        """Show the plan, run it, and compare the result with the configuration."""
        chain = _chain(options["chain"])
        try:
            deployment = Deployment(
                specification=networks.current().specification(chain),
                artifacts=Artifacts(settings.BASE_DIR / "contracts" / "out"),
                account=_account(),
                pool=networks.current().pool(chain.network),
                max_fee_cap=options["max_fee_gwei"] * GWEI,
            )
            plan = deployment.plan()
            self._show(plan, chain)
            if options["dry_run"]:
                self._end_with(plan.differences)
                return
            self._run(deployment, chain)
            self._compare(deployment.recorded_specification())
        except (EvmError, RpcError) as error:
            raise CommandError(f"{chain.name}: {error}", returncode=FAILED) from error

    def _show(self, plan: DeploymentPlan, chain: Chain) -> None:
        for name in CONTRACTS:
            self.stdout.write(f"{name:<26} {plan.at.of(name)}")
        for number, step in enumerate(plan.steps, start=1):
            self.stdout.write(f"{number}. {step.name}")
        for operation in plan.operations:
            self.stdout.write(f"   - {operation}")
        cost, has = (f"{_coins(wei)} {chain.native_symbol}" for wei in (plan.cost_bound, plan.balance))
        self.stdout.write(f"costs at most {cost}; the deployer has {has}" if plan.steps else "nothing to send")

    def _run(self, deployment: Deployment, chain: Chain) -> None:
        done: list[Mined] = []
        for event in deployment.run():
            if isinstance(event, Mined):
                done.append(event)
            else:
                self.stdout.write(f"sending {event.name}: {event.tx_hash}")
        if done:
            self._tabulate(done, chain.native_symbol)

    def _tabulate(self, done: Sequence[Mined], symbol: str) -> None:
        self.stdout.write(f"{'step':<34} {'transaction':<66} {'gas':>10} {'cost in ' + symbol:>22}")
        for step in done:
            self.stdout.write(f"{step.name:<34} {step.tx_hash:<66} {step.gas_used:>10,} {_coins(step.cost):>22}")
        gas, cost = sum(step.gas_used for step in done), sum(step.cost for step in done)
        self.stdout.write(f"{'total':<34} {'':<66} {gas:>10,} {_coins(cost):>22}")

    def _compare(self, recorded: Specification) -> None:
        chain = recorded.chain
        self.stdout.write(
            f"[chains.{chain.name}.contracts]\n"
            f'access_manager = "{chain.access_manager}"\nv5 = "{chain.v5_contract}"\nv4 = "{chain.v4_contract}"\n'
            f"deployed_at_block = {chain.deployed_at_block}"
        )
        self._end_with(audit(specification=recorded, pool=networks.current().pool(chain.network)).differences)
        self.stdout.write("The chain matches the configuration.")

    def _end_with(self, differences: Sequence[DeploymentDifference]) -> None:
        for difference in differences:
            self.stdout.write(f"differs: {difference}")
        if differences:
            self.stdout.write("A role holder must fix these on chain, or the configuration must change.")
            sys.exit(DIFFERENT)


def _chain(name: str) -> Chain:
    chain = networks.current().find(name)
    if chain is None:
        message = f"{name} is not in {settings.CHAINS_FILE.name}, or RPC_URLS_{name.upper()} is not set."
        raise CommandError(message, returncode=FAILED)
    return chain


def _account() -> LocalAccount:
    try:
        account: LocalAccount = Account.from_key(os.environ[KEY])
    except (KeyError, ValueError):  # not chained: the message may contain the key
        raise CommandError(f"{KEY} must be a private key, 0x and 64 hex digits.", returncode=FAILED) from None
    return account


def _coins(wei: int) -> str:
    return f"{wei / WEI:f}"
