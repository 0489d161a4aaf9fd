"""Compares a chain with its specification in one round trip: the code, every value in it, and who rules it."""

from dataclasses import dataclass

from sweepapi.evm import answers
from sweepapi.evm.answers import Block
from sweepapi.evm.deployment.code import code_differences
from sweepapi.evm.deployment.differences import Check, Difference
from sweepapi.evm.deployment.rights import rights
from sweepapi.evm.deployment.specification import CONTRACTS, Addresses, Specification
from sweepapi.evm.deployment.values import values
from sweepapi.evm.errors import CallFailedError
from sweepapi.evm.multicall import multicall
from sweepapi.evm.rpc import Call, MayFail, ProviderPool

# All views together use a tenth of this; a contract that is not ours may not burn or return more.
GAS_LIMIT = 10_000_000


@dataclass(frozen=True)
class Comparison:
    """What a chain showed at its head."""

    head: Block
    differences: tuple[Difference, ...]


def checks(specification: Specification, at: Addresses) -> list[Check]:
    """Return all checks but those of code, in the order in which a deployment puts right what they find.

    Values come first: as long as nobody was given a function, it is the admin's.
    """
    return [*values(specification, at), *rights(specification, at)]


def compare(
    *, specification: Specification, at: Addresses, pool: ProviderPool, timeout_seconds: float | None = None
) -> Comparison:
    """Return how the chain differs from the specification; one round trip. Raises ``ChainUnavailableError``."""
    asked = checks(specification, at)
    reads = [check.read for check in asked]
    multicall3 = specification.chain.multicall3
    calls = [
        Call("eth_getBlockByNumber", ("latest", False), answers.block),
        *(code_call(at.of(name)) for name in CONTRACTS),
        multicall(multicall3=multicall3, reads=reads, may_fail=MayFail.IN_THE_EVM, gas=GAS_LIMIT),
    ]
    _, (head, *rest) = pool.ask(calls, timeout_seconds=timeout_seconds)
    codes = dict(zip(CONTRACTS, rest, strict=False))
    answered = [None] * len(asked) if isinstance(rest[-1], CallFailedError) else rest[-1]
    found: list[Difference] = []
    for name, on_chain in codes.items():
        found += code_differences(name, on_chain, specification.chain, at)
    codeless = {at.of(name) for name, on_chain in codes.items() if not on_chain}
    for check, answer in zip(asked, answered, strict=True):
        if check.read.target not in codeless:  # that there is no code says it all
            found += check.judge(answer, head.timestamp)
    return Comparison(head, tuple(found))


def code_call(address: str) -> Call:
    """Return the call that reads the code of an address."""
    return Call("eth_getCode", (address, "latest"), answers.data)
