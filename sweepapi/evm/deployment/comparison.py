"""Compares a chain's state with its specification in one round trip: the code, the values and the permissions."""

from dataclasses import dataclass

from sweepapi.evm import responses
from sweepapi.evm.deployment.code import code_differences
from sweepapi.evm.deployment.differences import Check, Difference
from sweepapi.evm.deployment.permissions import permissions
from sweepapi.evm.deployment.specification import CONTRACTS, Addresses, Specification
from sweepapi.evm.deployment.values import values
from sweepapi.evm.errors import CallFailedError
from sweepapi.evm.multicall import multicall
from sweepapi.evm.responses import Block
from sweepapi.evm.rpc import Call, ErrorPolicy, ProviderPool

# All views together use a tenth of this; it bounds what another contract at one of the addresses can burn or return.
GAS_LIMIT = 10_000_000


@dataclass(frozen=True)
class Comparison:
    """The differences at a chain's head."""

    head: Block
    differences: tuple[Difference, ...]


def checks(specification: Specification, at: Addresses) -> list[Check]:
    """Return all checks except those of the code, in the order in which a deployment applies their remedies.

    Values come first: until a function is assigned to a role, the admin may call it.
    """
    return [*values(specification, at), *permissions(specification, at)]


def compare(
    *, specification: Specification, at: Addresses, pool: ProviderPool, timeout_seconds: float | None = None
) -> Comparison:
    """Return how the chain differs from the specification, in one round trip; raises ``ChainUnavailableError``."""
    listed = checks(specification, at)
    reads = [check.read for check in listed]
    multicall3 = specification.chain.multicall3
    calls = [
        Call("eth_getBlockByNumber", ("latest", False), responses.block),
        *(code_call(at.of(name)) for name in CONTRACTS),
        multicall(multicall3=multicall3, reads=reads, error_policy=ErrorPolicy.EXECUTION, gas=GAS_LIMIT),
    ]
    _, (head, *rest) = pool.ask(calls, timeout_seconds=timeout_seconds)
    codes = dict(zip(CONTRACTS, rest, strict=False))
    answered = [None] * len(listed) if isinstance(rest[-1], CallFailedError) else rest[-1]
    found: list[Difference] = []
    for name, on_chain in codes.items():
        found += code_differences(name, on_chain, specification.chain, at)
    codeless = {at.of(name) for name, on_chain in codes.items() if not on_chain}
    for check, answer in zip(listed, answered, strict=True):
        if check.read.target not in codeless:  # reported as missing code
            found += check.judge(answer, head.timestamp)
    return Comparison(head, tuple(found))


def code_call(address: str) -> Call:
    return Call("eth_getCode", (address, "latest"), responses.data)
