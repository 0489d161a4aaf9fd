"""What must be on a chain: the contracts as configured by the chains file, the roles and the fee signer's address.

Deploying and checking both use it, so they cannot disagree.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eth_utils.abi import abi_to_signature

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import SpecificationError
from sweepapi.evm.contracts.batch import HARD_CAP_BPS
from sweepapi.evm.deployment.roles import ADMIN, Roles
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools import finder

MANAGER, V5, V4 = "AccessManager", "ServiceBatchV5PartnerFees", "ServiceBatchV4"
BATCHES = (V5, V4)
CONTRACTS = (MANAGER, *BATCHES)
OWNER = "owner"


@dataclass(frozen=True)
class Addresses:
    """The addresses of a chain's contracts, deployed or not."""

    manager: str
    v5: str
    v4: str

    def of(self, name: str) -> str:
        return {MANAGER: self.manager, V5: self.v5, V4: self.v4}[name]


@dataclass(frozen=True)
class RoleGrant:
    """An account that must hold a role, and its delay between scheduling a call and making it."""

    role: int
    account: str
    execution_delay_seconds: int


@dataclass(frozen=True)
class AllowedCall:
    """A router function that sweeps may call."""

    router: str
    function: Function


@dataclass(frozen=True)
class Specification:
    """The contracts of one chain as they must be."""

    chain: Chain
    roles: Roles
    fee_signer: str
    protocol_recipient: str
    v4_fee_bps: int

    @classmethod
    def of(cls, *, chain: Chain, roles: Roles, fee_signer: str) -> "Specification":
        """Build it from the configuration; raises ``SpecificationError`` naming missing settings."""
        missing = [f"roles.{role.name}" for role in roles.listed if not chain.role_holders.get(role.name)]
        missing += [f"roles.{name} (unknown role)" for name in _unknown_roles(chain, roles)]
        if chain.protocol_recipient is None or chain.v4_fee_bps is None or missing:
            missing += [name for name in ("protocol_recipient", "v4_fee_bps") if getattr(chain, name) is None]
            raise SpecificationError(f"chain {chain.name!r} needs: {', '.join(missing)}")
        if not 0 <= chain.v4_fee_bps <= HARD_CAP_BPS:
            raise SpecificationError(f"chain {chain.name!r}: v4_fee_bps is above {HARD_CAP_BPS}")
        return cls(chain, roles, fee_signer, chain.protocol_recipient, chain.v4_fee_bps)

    @property
    def allowed_calls(self) -> tuple[AllowedCall, ...]:
        """The routers' allow list: exactly the functions that router legs call."""
        calls = [AllowedCall(router.address, swap) for router in self.chain.routers for swap in finder.swaps(router)]
        return tuple(dict.fromkeys(calls))

    @property
    def grants(self) -> tuple[RoleGrant, ...]:
        """The role grants; the owner is also the manager's admin, with a delay."""
        listed = [
            RoleGrant(role.number, account, role.execution_delay_seconds)
            for role in self.roles.listed
            for account in self.chain.role_holders[role.name]
        ]
        owners = self.chain.role_holders[OWNER]
        return (*listed, *(RoleGrant(ADMIN, owner, self.roles.admin_delay_seconds) for owner in owners))

    def function_roles(self, contract: str) -> Iterator[tuple[Function, int]]:
        """Yield every state-changing function of a contract, with its role."""
        for signature in _changing_functions(contract):
            yield Function(signature), self.roles.of_function(signature)


def deployed(chain: Chain) -> Addresses | None:
    """Return the contracts' addresses from the chains file, or None if it has none."""
    if chain.access_manager is None or chain.v5_contract is None or chain.v4_contract is None:
        return None
    return Addresses(chain.access_manager, chain.v5_contract, chain.v4_contract)


def _unknown_roles(chain: Chain, roles: Roles) -> set[str]:
    return set(chain.role_holders) - {role.name for role in roles.listed}


@cache
def _changing_functions(contract: str) -> tuple[str, ...]:
    """Return the signatures of all functions of the exported ABI except views."""
    path = Path(__file__).parents[1] / "abi" / f"{contract}.json"
    entries = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        abi_to_signature(entry)
        for entry in entries
        if entry["type"] == "function" and entry["stateMutability"] not in ("view", "pure")
    )
