"""Compares a chain with its specification in one round trip: code, values and rights."""

from dataclasses import dataclass

from sweepapi.evm import responses
from sweepapi.evm.deployment.code import code_differences
from sweepapi.evm.deployment.differences import Check, Difference
from sweepapi.evm.deployment.rights import rights
from sweepapi.evm.deployment.specification import CONTRACTS, Addresses, Specification
from sweepapi.evm.deployment.values import values
from sweepapi.evm.errors import CallFailedError
from sweepapi.evm.multicall import multicall
from sweepapi.evm.responses import Block
from sweepapi.evm.rpc import Call, ErrorPolicy, ProviderPool

# All views together use a tenth of this; it bounds what a contract that is not ours can burn or return.
GAS_LIMIT = 10_000_000


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison at the chain's head."""

    head: Block
    differences: tuple[Difference, ...]


def checks(specification: Specification, at: Addresses) -> list[Check]:
    """Return all checks except those of code, in the order in which a deployment corrects what they find.

    Values come first: until a function is assigned to a role, it is the admin's.
    """
    return [*values(specification, at), *rights(specification, at)]


def compare(
    *, specification: Specification, at: Addresses, pool: ProviderPool, timeout_seconds: float | None = None
) -> Comparison:
    """Return how the chain differs from the specification, in one round trip; raises ``ChainUnavailableError``."""
    all_checks = checks(specification, at)
    reads = [check.read for check in all_checks]
    multicall3 = specification.chain.multicall3
    calls = [
        Call("eth_getBlockByNumber", ("latest", False), responses.block),
        *(code_call(at.of(name)) for name in CONTRACTS),
        multicall(multicall3=multicall3, reads=reads, error_policy=ErrorPolicy.EXECUTION, gas=GAS_LIMIT),
    ]
    _, (head, *rest) = pool.ask(calls, timeout_seconds=timeout_seconds)
    codes = dict(zip(CONTRACTS, rest, strict=False))
    results = [None] * len(all_checks) if isinstance(rest[-1], CallFailedError) else rest[-1]
    found: list[Difference] = []
    for name, on_chain in codes.items():
        found += code_differences(name, on_chain, specification.chain, at)
    codeless = {at.of(name) for name, on_chain in codes.items() if not on_chain}
    for check, result in zip(all_checks, results, strict=True):
        if check.read.target not in codeless:  # the missing code is a difference of its own
            found += check.judge(result, head.timestamp)
    return Comparison(head, tuple(found))


def code_call(address: str) -> Call:
    """Return the call that reads the code at an address."""
    return Call("eth_getCode", (address, "latest"), responses.data)
