"""Finds what the specification does not mention: other role holders, other functions with roles, scheduled calls.

The access manager emits an event for each of these, so its logs name every candidate; the chain's current state then
shows which of them still apply.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_utils.address import to_checksum_address

from sweepapi.evm.chain.blocks import head_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.deployment import access_manager as manager
from sweepapi.evm.deployment.differences import DeploymentDifference, display
from sweepapi.evm.deployment.permissions import access_text
from sweepapi.evm.deployment.roles import ADMIN
from sweepapi.evm.deployment.scheduled import ScheduledCall, ScheduledOperation
from sweepapi.evm.deployment.specification import BATCHES, Addresses, Specification
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Log
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import BadResponseError, CallFailedError, ChainUnavailableError

# Providers limit the range, the number of logs or the time: a refused range is halved, an accepted one doubled.
FIRST_CHUNK_BLOCKS = 10_000
MAX_CHUNK_BLOCKS = 10_000_000
TOPICS = (manager.ROLE_GRANTED_TOPIC, manager.FUNCTION_ROLE_TOPIC, manager.SCHEDULED_TOPIC)
READS_PER_CALL = 200
REPLACEABLE_BLOCKS = 100

ReadMany = Callable[[Sequence[Read]], Iterator[Any]]  # yields the values of each read


@dataclass(frozen=True)
class LoggedCandidates:
    """Everything that the logs name, whether it still applies or not."""

    holders: frozenset[tuple[int, str]]  # (role, account)
    functions: frozenset[tuple[str, bytes]]  # (contract, selector)
    scheduled: Mapping[bytes, ScheduledCall]  # by operation id


@dataclass(frozen=True)
class Findings:
    """What still applies: the differences, and the scheduled operations."""

    differences: tuple[DeploymentDifference, ...]
    scheduled: tuple[ScheduledOperation, ...]


def find_unspecified(
    *, specification: Specification, at: Addresses, pool: ProviderPool, from_block: int, to_block: int
) -> Findings:
    """Return what the access manager's logs show and the specification does not mention.

    Raises ``ChainUnavailableError``, also if the logs are incomplete: they must contain every specified grant.
    """
    candidates = _candidates(logs(pool, at.manager, from_block, to_block))
    specified = {(grant.role, grant.account) for grant in specification.grants}
    read_many = partial(_read_many, specification.chain.multicall3, pool)
    if any(_active_grants(read_many, at, specified - candidates.holders)):
        raise ChainUnavailableError(f"the logs from block {from_block} on lack active grants")
    label = specification.roles.label
    holders = (
        DeploymentDifference(f"{account} holds {label(role)}", "no", access_text(access))
        for (role, account), access in _active_grants(read_many, at, candidates.holders - specified)
    )
    functions = (
        DeploymentDifference(f"role of {display(selector)} of {target}", label(ADMIN), label(role))
        for (target, selector), role in _assigned_roles(
            read_many, at, candidates.functions - _functions(specification, at)
        )
    )
    return Findings((*holders, *functions), tuple(_pending(read_many, at.manager, candidates.scheduled)))


def _active_grants(
    read_many: ReadMany, at: Addresses, holders: Iterable[tuple[int, str]]
) -> Iterator[tuple[tuple[int, str], Sequence[int]]]:
    """Yield each (role, account) that is granted now, with the result of ``getAccess``."""
    listed = sorted(holders)
    accesses = read_many([Read(at.manager, manager.GET_ACCESS, holder) for holder in listed])
    return ((holder, access) for holder, access in zip(listed, accesses, strict=True) if access[0] != 0)


def _assigned_roles(
    read_many: ReadMany, at: Addresses, functions: Iterable[tuple[str, bytes]]
) -> Iterator[tuple[tuple[str, bytes], int]]:
    """Yield each (contract, selector) that has a role other than admin now, with the role."""
    listed = sorted(functions)
    roles = read_many([Read(at.manager, manager.GET_TARGET_FUNCTION_ROLE, function) for function in listed])
    return ((function, role) for function, (role,) in zip(listed, roles, strict=True) if role != ADMIN)


def _pending(
    read_many: ReadMany, access_manager: str, scheduled: Mapping[bytes, ScheduledCall]
) -> Iterator[ScheduledOperation]:
    """Yield the operations that are still scheduled."""
    times = read_many([Read(access_manager, manager.GET_SCHEDULE, (operation,)) for operation in scheduled])
    found = zip(scheduled.values(), times, strict=True)
    return (ScheduledOperation(call, when) for call, (when,) in found if when != 0)


@dataclass
class ScheduleWatch:
    """Follows what one provider shows to be scheduled on a chain, and reads only blocks that it has not read yet."""

    chain: Chain
    pool: ProviderPool  # of that provider, so that no other can hide what it shows
    _known: dict[bytes, ScheduledCall] = field(default_factory=dict)
    _next_block: int = 0

    def read(self) -> list[ScheduledOperation]:
        """Return what is scheduled now, none where nothing is deployed; raises ``ChainUnavailableError``.

        The last blocks are read again each time, because they may be replaced.
        """
        access_manager, first = self.chain.access_manager, self.chain.deployed_at_block
        if access_manager is None or first is None:
            return []
        (head,) = self.pool.batch([head_call()])
        found = _candidates(logs(self.pool, access_manager, max(first, self._next_block), head.number))
        known = {**self._known, **found.scheduled}
        pending = list(_pending(partial(_read_many, self.chain.multicall3, self.pool), access_manager, known))
        calls = {operation.call for operation in pending}
        self._known = {number: call for number, call in known.items() if call in calls}
        self._next_block = head.number - REPLACEABLE_BLOCKS
        return pending


def block_before(*, pool: ProviderPool, access_manager: str, admin: str, head: int) -> int:
    """Return a block at or before the manager's creation with this first admin, searching down from the head."""
    for end in range(head, -1, -FIRST_CHUNK_BLOCKS):
        start = max(end - FIRST_CHUNK_BLOCKS + 1, 0)
        if (ADMIN, admin) in _candidates(logs(pool, access_manager, start, end)).holders:
            return start
    raise ChainUnavailableError("the provider returned no logs of the access manager")


def logs(pool: ProviderPool, address: str, from_block: int, to_block: int) -> Iterator[Log]:
    """Yield the access manager's logs, in chunks as large as the providers allow.

    It queries every provider and yields all their logs, so that no provider can hide what another returns.
    """
    size, start = FIRST_CHUNK_BLOCKS, from_block
    while start <= to_block:
        end = min(start + size - 1, to_block)
        call = _logs_call(address, start, end)
        chunks = _chunks(pool, call)
        if chunks:
            yield from (log for chunk in chunks for log in chunk)
            start, size = end + 1, min(2 * size, MAX_CHUNK_BLOCKS)
        elif size > 1:
            size //= 2
        else:
            raise ChainUnavailableError("no provider returns the logs of even a single block")


def _chunks(pool: ProviderPool, call: Call) -> list[tuple[Log, ...]]:
    """Return the logs from each provider that accepts the range; silence and HTTP errors count as refusals."""
    try:
        answered = pool.ask_all([call])
    except ChainUnavailableError:
        return []
    return [chunk for (chunk,) in answered if not isinstance(chunk, CallFailedError)]


def _logs_call(address: str, start: int, end: int) -> Call:
    query = {"address": address, "topics": [list(TOPICS)], "fromBlock": hex(start), "toBlock": hex(end)}

    def decode(value: object) -> tuple[Log, ...]:
        found = responses.logs(value)
        if any(log.address != address or log.topics[:1] not in [(topic,) for topic in TOPICS] for log in found):
            raise BadResponseError("the response contains logs that do not match the query")
        return found

    return Call("eth_getLogs", (query,), decode, ErrorPolicy.ANY)


def _candidates(found: Iterable[Log]) -> LoggedCandidates:
    holders, functions, scheduled = set(), set(), {}
    for log in found:
        try:
            if log.topics[0] == manager.ROLE_GRANTED_TOPIC:
                holders.add((int(log.topics[1], 16) % 2**64, _address(log.topics[2])))
            elif log.topics[0] == manager.FUNCTION_ROLE_TOPIC:
                functions.add((_address(log.topics[1]), decode(["bytes4"], log.data)[0]))
            else:
                scheduled[bytes.fromhex(log.topics[1][2:])] = _call(log.data)
        except (DecodingError, OverflowError, IndexError) as error:
            raise ChainUnavailableError("a provider returned malformed logs") from error
    return LoggedCandidates(frozenset(holders), frozenset(functions), scheduled)


def _call(scheduled: bytes) -> ScheduledCall:
    _, caller, target, data = decode(["uint48", "address", "address", "bytes"], scheduled)
    return ScheduledCall(to_checksum_address(caller), to_checksum_address(target), data)


def _address(topic: str) -> str:
    return to_checksum_address(topic[-40:])


def _functions(specification: Specification, at: Addresses) -> set[tuple[str, bytes]]:
    return {(at.of(name), function.selector) for name in BATCHES for function, _ in specification.function_roles(name)}


def _read_many(multicall3: str, pool: ProviderPool, reads: Sequence[Read]) -> Iterator[Any]:
    for start in range(0, len(reads), READS_PER_CALL):
        part = reads[start : start + READS_PER_CALL]
        (values,) = pool.batch([multicall(multicall3=multicall3, reads=part, require_all=True)])
        yield from values
