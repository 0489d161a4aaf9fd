"""Deploys the contracts to a chain in up to four transactions, and resumes where an earlier run stopped.

Three transactions create the contracts; the constructors of the last two take the access manager. The fourth is one
call of the manager that lists the venues and routers, assigns the functions, grants the roles, makes the owner admin
with a delay and renounces the deployer's admin role. It succeeds or reverts as a whole, so permissions are never half
assigned. Before each transaction the runner reads the chain and plans again, so it never repeats a step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eth_account.signers.local import LocalAccount

from sweepapi.evm.chain.blocks import head_call
from sweepapi.evm.chain.errors import DeploymentError, SpecificationError
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.deployment import access_manager as manager
from sweepapi.evm.deployment.comparison import checks, code_call, compare
from sweepapi.evm.deployment.creation import CREATOR, CREATOR_CODE_HASH, Artifacts, Creation, addresses, creations
from sweepapi.evm.deployment.differences import DeploymentDifference, Operation
from sweepapi.evm.deployment.history import block_before
from sweepapi.evm.deployment.roles import ADMIN
from sweepapi.evm.deployment.sender import Mined, Sender, Sent, Step
from sweepapi.evm.deployment.specification import MANAGER, Addresses, Specification, deployed
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.rpc import ProviderPool

CONFIGURE = "configure and hand over"
# Upper bounds of the gas of steps that can't be estimated before the previous step is mined. A test checks that the
# steps use less. The transactions themselves are sent with an estimate.
CREATION_GAS = 400_000
CREATION_GAS_PER_BYTE = 240
CONFIGURATION_GAS = 100_000
OPERATION_GAS = 120_000


@dataclass(frozen=True)
class DeploymentPlan:
    """The remaining steps of a deployment, as the chain is now."""

    at: Addresses
    steps: tuple[Step, ...]
    operations: tuple[str, ...]  # descriptions of the last step's operations
    differences: tuple[DeploymentDifference, ...]  # what this deployment can't fix
    cost_bound: int  # of all steps, in wei
    balance: int  # of the deployer, in wei


@dataclass(frozen=True)
class Deployment:
    """A deployment by one account to one chain; ``max_fee_cap`` is the most it pays per unit of gas, in wei."""

    specification: Specification
    artifacts: Artifacts
    account: LocalAccount
    pool: ProviderPool
    max_fee_cap: int

    def run(self) -> Iterator[Sent | Mined]:
        """Run every missing step; yields each transaction's hash before it is sent, and its cost once mined.

        Stops when no step is left; ``plan`` then has the differences that remain. Raises as ``plan`` does, and
        ``DeploymentError`` if the deployer's balance is too low or a step fails.
        """
        sender = self._sender()
        sender.wait_until_idle()  # transactions of an earlier run must be mined before planning
        executed: set[str] = set()
        while (plan := self.plan()).steps:
            step = plan.steps[0]
            if step.name in executed:
                raise DeploymentError(f"{step.name} was mined, but the node does not show it; run it again later")
            if plan.balance < plan.cost_bound:
                message = f"has {plan.balance} wei, and the remaining steps may cost {plan.cost_bound} wei"
                raise DeploymentError(f"the deployer {self.account.address} {message}")
            yield from sender.execute(step)
            executed.add(step.name)

    def plan(self) -> DeploymentPlan:
        """Return the remaining steps.

        Raises ``SpecificationError``, ``BuildError``, ``ChainUnavailableError``, and ``DeploymentError`` if deploying
        to this chain is impossible.
        """
        self._refuse_role_holder()
        at, missing = self._contracts()
        operations, differences = (
            self._plan_new_contracts(at, missing) if missing else self._plan_existing_contracts(at)
        )
        steps = [Step(f"create {one.name}", CREATOR, one.data, _creation_gas(one)) for one in missing]
        if operations:
            steps.append(_configuration(at, operations))
        gas_bound = sum(step.gas_bound for step in steps)
        price, balance = self._sender().price_and_balance()
        descriptions = tuple(operation.what for operation in operations)
        return DeploymentPlan(at, tuple(steps), descriptions, differences, gas_bound * price, balance)

    def recorded_specification(self) -> Specification:
        """Return the specification with the deployed addresses, for the chains file; raises as ``plan`` does."""
        chain = self.specification.chain
        if deployed(chain) is not None:
            return self.specification
        at, _ = self._contracts()
        (head,) = self.pool.batch([head_call()])
        block = block_before(pool=self.pool, access_manager=at.manager, admin=self.account.address, head=head.number)
        known = replace(chain, access_manager=at.manager, v5_contract=at.v5, v4_contract=at.v4, deployed_at_block=block)
        return replace(self.specification, chain=known)

    def _refuse_role_holder(self) -> None:
        """Refuse a deployer that would hold a role: its key was exposed on this machine, and it renounces the admin."""
        if self.account.address in {grant.account for grant in self.specification.grants}:
            raise SpecificationError(f"the deployer {self.account.address} may not hold a role")

    def _contracts(self) -> tuple[Addresses, list[Creation]]:
        """Return the contracts' addresses, and those contracts that are missing."""
        configured = deployed(self.specification.chain)
        if configured is not None:
            return configured, []
        made = creations(self.specification, self.artifacts, self.account.address)
        creator, *codes = self.pool.batch([code_call(CREATOR), *(code_call(one.address) for one in made)])
        if keccak_hex(creator) != CREATOR_CODE_HASH:
            raise DeploymentError(f"the chain has no deterministic deployer at {CREATOR}")
        return addresses(made), [one for one, code in zip(made, codes, strict=True) if not code]

    def _plan_new_contracts(
        self, at: Addresses, missing: Sequence[Creation]
    ) -> tuple[list[Operation], tuple[DeploymentDifference, ...]]:
        """Return the operations that configure new contracts."""
        if all(one.name != MANAGER for one in missing) and not self._is_admin(at):
            handed_over = f"the deployer {self.account.address} already handed over {at.manager}"
            raise DeploymentError(
                f"{handed_over}, with another configuration: add its contracts to the chains file, or use another key"
            )
        unset = [difference for check in checks(self.specification, at) for difference in check.compare(None, 0)]
        return self._operations(unset), ()

    def _plan_existing_contracts(self, at: Addresses) -> tuple[list[Operation], tuple[DeploymentDifference, ...]]:
        """Return the operations to run and the differences; no operations if any difference has no remedy."""
        found = compare(specification=self.specification, at=at, pool=self.pool).differences
        if any(one.remedy is None for one in found) or not self._is_admin(at):
            return [], found
        return self._operations(found), ()

    def _is_admin(self, at: Addresses) -> bool:
        read = Read(at.manager, manager.GET_ACCESS, (ADMIN, self.account.address))
        multicall3 = self.specification.chain.multicall3
        (((since, delay, *_),),) = self.pool.batch([multicall(multicall3=multicall3, reads=[read], require_all=True)])
        return bool(since) and delay == 0

    def _operations(self, differences: Sequence[DeploymentDifference]) -> list[Operation]:
        """Return the remedies and, last, the deployer's renouncing of the admin role."""
        renounce = manager.RENOUNCE_ROLE.encode(ADMIN, self.account.address)
        remedies = [one.remedy for one in differences if one.remedy is not None]
        return [*remedies, Operation(f"the deployer {self.account.address} renounces the admin role", renounce)]

    def _sender(self) -> Sender:
        chain_id = self.specification.chain.chain_id
        return Sender(account=self.account, chain_id=chain_id, pool=self.pool, max_fee_cap=self.max_fee_cap)


def _configuration(at: Addresses, operations: Sequence[Operation]) -> Step:
    data = manager.MULTICALL.encode([operation.data for operation in operations])
    return Step(CONFIGURE, at.manager, data, CONFIGURATION_GAS + OPERATION_GAS * len(operations))


def _creation_gas(creation: Creation) -> int:
    return CREATION_GAS + CREATION_GAS_PER_BYTE * len(creation.data)
