"""What must be deployed on a chain, according to the chains file, the roles file and the fee signer's address.

Both deploying and checking use it, so they can't disagree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from eth_utils.abi import abi_to_signature

from sweepapi.evm.abi import Function, exported_abi
from sweepapi.evm.chains import Chain
from sweepapi.evm.deployment.roles import ADMIN, Roles
from sweepapi.evm.errors import SpecificationError
from sweepapi.evm.routes import finder
from sweepapi.evm.v5 import FUNDING_APPROVED, FUNDING_PREFUNDED, HARD_CAP_BPS

MANAGER, V5, V4 = "AccessManager", "ServiceBatchV5PartnerFees", "ServiceBatchV4"
BATCHES = (V5, V4)
CONTRACTS = (MANAGER, *BATCHES)
OWNER = "owner"
# Every kind of router that the service supports accepts both, and pulls approved tokens itself.
FUNDING_MODES = 1 << FUNDING_APPROVED | 1 << FUNDING_PREFUNDED


@dataclass(frozen=True)
class Addresses:
    """The addresses of a chain's contracts, deployed or not."""

    manager: str
    v5: str
    v4: str

    def of(self, name: str) -> str:
        """Return the address of the contract of this name."""
        return {MANAGER: self.manager, V5: self.v5, V4: self.v4}[name]


@dataclass(frozen=True)
class Grant:
    """An account that must hold a role, and the delay between scheduling a call and executing it."""

    role: int
    account: str
    execution_delay_seconds: int


@dataclass(frozen=True)
class Pair:
    """A function of a router that sweeps may call."""

    router: str
    function: Function


@dataclass(frozen=True)
class Specification:
    """The required state of one chain's contracts."""

    chain: Chain
    roles: Roles
    fee_signer: str
    protocol_recipient: str
    v4_fee_bps: int

    @classmethod
    def of(cls, *, chain: Chain, roles: Roles, fee_signer: str) -> "Specification":
        """Return what the configuration asks for; raises ``SpecificationError`` naming what is missing."""
        missing = [f"roles.{role.name}" for role in roles.listed if not chain.role_holders.get(role.name)]
        missing += [f"roles.{name} (an unknown role)" for name in _unknown_roles(chain, roles)]
        if chain.protocol_recipient is None or chain.v4_fee_bps is None or missing:
            missing += [name for name in ("protocol_recipient", "v4_fee_bps") if getattr(chain, name) is None]
            raise SpecificationError(f"chain {chain.name!r} needs: {', '.join(missing)}")
        if not 0 <= chain.v4_fee_bps <= HARD_CAP_BPS:
            raise SpecificationError(f"chain {chain.name!r}: v4_fee_bps is above {HARD_CAP_BPS}")
        return cls(chain, roles, fee_signer, chain.protocol_recipient, chain.v4_fee_bps)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The allow-list: exactly what the service's own routes call."""
        pairs = [Pair(router.address, function) for router in self.chain.routers for function in finder.swaps(router)]
        return tuple(dict.fromkeys(pairs))

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Who holds which role; the owner is also the manager's admin, with a delay."""
        listed = [
            Grant(role.number, account, role.execution_delay_seconds)
            for role in self.roles.listed
            for account in self.chain.role_holders[role.name]
        ]
        owners = self.chain.role_holders[OWNER]
        return (*listed, *(Grant(ADMIN, owner, self.roles.admin_delay_seconds) for owner in owners))

    def function_roles(self, contract: str) -> Iterator[tuple[Function, int]]:
        """Yield every function of a contract that changes state, with the role that it must require."""
        for signature in _changing_functions(contract):
            yield Function(signature), self.roles.of_function(signature)


def deployed(chain: Chain) -> Addresses | None:
    """Return the addresses that the chains file gives, or None if it gives none."""
    if chain.access_manager is None or chain.v5_contract is None or chain.v4_contract is None:
        return None
    return Addresses(chain.access_manager, chain.v5_contract, chain.v4_contract)


def _unknown_roles(chain: Chain, roles: Roles) -> set[str]:
    return set(chain.role_holders) - {role.name for role in roles.listed}


@cache
def _changing_functions(contract: str) -> tuple[str, ...]:
    """Return the signatures of the exported ABI's functions, except views."""
    return tuple(
        abi_to_signature(entry)
        for entry in exported_abi(contract)
        if entry["type"] == "function" and entry["stateMutability"] not in ("view", "pure")
    )
