"""Finds what was not specified at all: other holders of roles, other functions with roles, scheduled calls.

The access manager emits an event for each of these, so its logs name all candidates; the chain's present state then
says which of them still hold.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_utils.address import to_checksum_address

from sweepapi.evm import answers
from sweepapi.evm.answers import Log
from sweepapi.evm.deployment import access_manager as manager
from sweepapi.evm.deployment.differences import Difference, text
from sweepapi.evm.deployment.rights import access_text
from sweepapi.evm.deployment.roles import ADMIN
from sweepapi.evm.deployment.specification import BATCHES, Addresses, Specification
from sweepapi.evm.errors import BadAnswerError, CallFailedError, ChainUnavailableError
from sweepapi.evm.multicall import Read, multicall
from sweepapi.evm.rpc import Call, MayFail, ProviderPool

# Providers bound the range, the logs or the time, each differently: what is refused is halved, what is granted doubled.
FIRST_CHUNK_BLOCKS = 10_000
MAX_CHUNK_BLOCKS = 10_000_000
TOPICS = (manager.ROLE_GRANTED_TOPIC, manager.FUNCTION_ROLE_TOPIC, manager.SCHEDULED_TOPIC)
READS_PER_CALL = 200

Ask = Callable[[Sequence[Read]], Iterator[Any]]  # gives the values of each read


@dataclass(frozen=True)
class Candidates:
    """All that the logs name, whether it still holds or not."""

    holders: frozenset[tuple[int, str]]  # (role, account)
    functions: frozenset[tuple[str, bytes]]  # (contract, selector)
    scheduled: Mapping[bytes, str]  # what is called, with all that cancelling it takes, by operation id


@dataclass(frozen=True)
class Remains:
    """What still holds of the past: differences, and in words the operations that wait for their time."""

    differences: tuple[Difference, ...]
    scheduled: tuple[str, ...]


def remains(
    *, specification: Specification, at: Addresses, pool: ProviderPool, from_block: int, to_block: int
) -> Remains:
    """Return what the access manager's past left beside the specification.

    Raises ``ChainUnavailableError``, also if the logs are not all there: what holds was granted in one of them.
    """
    candidates = _candidates(logs(pool, at.manager, from_block, to_block))
    specified = {(grant.role, grant.account) for grant in specification.grants}
    ask = partial(_ask, specification.chain.multicall3, pool)
    if any(_held(ask, at, specified - candidates.holders)):
        raise ChainUnavailableError(f"the logs from block {from_block} on lack grants that hold")
    label = specification.roles.label
    holders = (
        Difference(f"{account} holds {label(role)}", "no", access_text(access))
        for (role, account), access in _held(ask, at, candidates.holders - specified)
    )
    functions = (
        Difference(f"role of {text(selector)} of {target}", label(ADMIN), label(role))
        for (target, selector), role in _given_out(ask, at, candidates.functions - _functions(specification, at))
    )
    return Remains((*holders, *functions), tuple(_waiting(ask, at, candidates.scheduled)))


def _held(
    ask: Ask, at: Addresses, holders: Iterable[tuple[int, str]]
) -> Iterator[tuple[tuple[int, str], Sequence[int]]]:
    """Yield those of these (role, account) that hold now, each with what ``getAccess`` says."""
    asked = sorted(holders)
    accesses = ask([Read(at.manager, manager.GET_ACCESS, holder) for holder in asked])
    return ((holder, access) for holder, access in zip(asked, accesses, strict=True) if access[0] != 0)


def _given_out(
    ask: Ask, at: Addresses, functions: Iterable[tuple[str, bytes]]
) -> Iterator[tuple[tuple[str, bytes], int]]:
    """Yield those of these (contract, selector) that are not the admin's now, each with its role."""
    asked = sorted(functions)
    roles = ask([Read(at.manager, manager.GET_TARGET_FUNCTION_ROLE, function) for function in asked])
    return ((function, role) for function, (role,) in zip(asked, roles, strict=True) if role != ADMIN)


def _waiting(ask: Ask, at: Addresses, scheduled: Mapping[bytes, str]) -> Iterator[str]:
    """Yield those of these operations that wait now, in words."""
    times = ask([Read(at.manager, manager.GET_SCHEDULE, (operation,)) for operation in scheduled])
    return (f"{call}, from {when} on" for call, (when,) in zip(scheduled.values(), times, strict=True) if when != 0)


def block_before(*, pool: ProviderPool, access_manager: str, admin: str, head: int) -> int:
    """Return a block no later than the one that made this manager with this first admin, going down from the head."""
    for end in range(head, -1, -FIRST_CHUNK_BLOCKS):
        start = max(end - FIRST_CHUNK_BLOCKS + 1, 0)
        if (ADMIN, admin) in _candidates(logs(pool, access_manager, start, end)).holders:
            return start
    raise ChainUnavailableError("the provider knows of no logs of the access manager")


def logs(pool: ProviderPool, address: str, from_block: int, to_block: int) -> Iterator[Log]:
    """Yield the logs of these topics, in chunks as large as the providers give.

    All providers are asked and their answers united, so that one of them can't hide what another shows.
    """
    size, start = FIRST_CHUNK_BLOCKS, from_block
    while start <= to_block:
        end = min(start + size - 1, to_block)
        call = _logs_call(address, start, end)
        given = _given(pool, call)
        if given:
            yield from (log for chunk in given for log in chunk)
            start, size = end + 1, min(2 * size, MAX_CHUNK_BLOCKS)
        elif size > 1:
            size //= 2
        else:
            raise ChainUnavailableError("no provider gives the logs, not even those of one block")


def _given(pool: ProviderPool, call: Call) -> list[tuple[Log, ...]]:
    """Return the logs of each provider that gives them; silence and HTTP errors are refusals of the range, too."""
    try:
        answered = pool.ask_all([call])
    except ChainUnavailableError:
        return []
    return [chunk for (chunk,) in answered if not isinstance(chunk, CallFailedError)]


def _logs_call(address: str, start: int, end: int) -> Call:
    query = {"address": address, "topics": [list(TOPICS)], "fromBlock": hex(start), "toBlock": hex(end)}

    def decode(value: object) -> tuple[Log, ...]:
        found = answers.logs(value)
        if any(log.address != address or log.topics[:1] not in [(topic,) for topic in TOPICS] for log in found):
            raise BadAnswerError("logs that were not asked for")
        return found

    return Call("eth_getLogs", (query,), decode, MayFail.ANYHOW)


def _candidates(found: Iterable[Log]) -> Candidates:
    holders, functions, scheduled = set(), set(), {}
    for log in found:
        try:
            if log.topics[0] == manager.ROLE_GRANTED_TOPIC:
                holders.add((int(log.topics[1], 16) % 2**64, _address(log.topics[2])))
            elif log.topics[0] == manager.FUNCTION_ROLE_TOPIC:
                functions.add((_address(log.topics[1]), decode(["bytes4"], log.data)[0]))
            else:
                scheduled[bytes.fromhex(log.topics[1][2:])] = _call_text(log.data)
        except (DecodingError, OverflowError, IndexError) as error:
            raise ChainUnavailableError("a provider answered with logs of another shape") from error
    return Candidates(frozenset(holders), frozenset(functions), scheduled)


def _call_text(scheduled: bytes) -> str:
    _, caller, target, call = decode(["uint48", "address", "address", "bytes"], scheduled)
    return f"{text(caller)} calls {text(target)} with {text(call)}"


def _address(topic: str) -> str:
    return to_checksum_address(topic[-40:])


def _functions(specification: Specification, at: Addresses) -> set[tuple[str, bytes]]:
    return {(at.of(name), function.selector) for name in BATCHES for function, _ in specification.function_roles(name)}


def _ask(multicall3: str, pool: ProviderPool, reads: Sequence[Read]) -> Iterator[Any]:
    for start in range(0, len(reads), READS_PER_CALL):
        part = reads[start : start + READS_PER_CALL]
        (values,) = pool.batch([multicall(multicall3=multicall3, reads=part, all_needed=True)])
        yield from values
