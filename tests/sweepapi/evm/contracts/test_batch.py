"""Routes are packed and hashed field by field, and the events of legs that were left out are read strictly."""

from dataclasses import replace
from typing import Any

import pytest
from eth_abi.abi import decode
from eth_utils.abi import collapse_if_tuple, event_abi_to_log_topic

from sweepapi.evm.contracts import batch, v4, v5
from sweepapi.evm.contracts.batch import EntryPoints, BatchHop, BatchLeg, Permission, BatchRoute, RouterCall, SkipReason, TokenPermit
from sweepapi.evm.encoding.responses import Log
from tests.contract_abi import entry, names

ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
OTHER = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"
LEG = BatchLeg(ADDRESS, 1, 1, BatchHop(fee=500, venue=1))
CALL = RouterCall(0, ADDRESS, b"\x01")
ROUTE = BatchRoute([LEG], BatchHop(), 1, [CALL])


def padded(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


@pytest.mark.parametrize(
    ("hop", "packed"),
    [
        (BatchHop(), 0),
        (BatchHop(fee=2**24 - 1), 0xFFFFFF),
        (BatchHop(venue=2**16 - 1), 0xFFFF << 24),
        (BatchHop(joined=True), 1 << 40),
        (BatchHop(skippable=True), 1 << 41),
        (BatchHop(dropped=True), 1 << 42),
        (BatchHop(price_limit=1), 1 << 43),
        (BatchHop(price_limit=2**22 - 1), (2**22 - 1) << 43),
        (BatchHop(price_limit=(2**22 - 1) << 138), 138 << 65 | (2**22 - 1) << 43),
        (BatchHop(price_limit=1 << 95), 95 << 65 | 1 << 43),
        (BatchHop(least=2**128 - 1), (2**128 - 1) << 128),
        (BatchHop(3000, 7, joined=True, skippable=True, least=9), 9 << 128 | 3 << 40 | 7 << 24 | 3000),
    ],
)
def test_each_field_of_a_hop_has_its_own_bits(hop: BatchHop, packed: int) -> None:
    assert hop.as_int() == packed


@pytest.mark.parametrize(
    ("field", "bits"),
    [("fee", 24), ("venue", 16), ("least", 128)],
)
def test_a_value_that_would_spill_into_other_bits_is_refused(field: str, bits: int) -> None:
    for value in (-1, 2**bits):
        changed: dict[str, Any] = {field: value}
        with pytest.raises(ValueError, match=f"{value} needs more than {bits} bits"):
            BatchHop(**changed)


@pytest.mark.parametrize("limit", [-1, 2**22 + 1, 2**160 - 1])
def test_a_price_limit_that_does_not_fit_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=f"{limit} has more than 22 significant bits"):
        BatchHop(price_limit=limit)


def test_the_hash_of_a_route_changes_with_every_field() -> None:
    changed = [
        replace(ROUTE, legs=[replace(LEG, token=OTHER)]),
        replace(ROUTE, legs=[replace(LEG, amount=2)]),
        replace(ROUTE, legs=[replace(LEG, floor=2)]),
        replace(ROUTE, legs=[replace(LEG, hop=BatchHop(fee=500, venue=1, skippable=True))]),
        replace(ROUTE, legs=[LEG, LEG]),
        replace(ROUTE, legs=[]),
        replace(ROUTE, last_hop=BatchHop(venue=1)),
        replace(ROUTE, max_skipped=2),
        replace(ROUTE, router_calls=[replace(CALL, leg=1)]),
        replace(ROUTE, router_calls=[replace(CALL, router=OTHER)]),
        replace(ROUTE, router_calls=[replace(CALL, data=b"\x02")]),
        replace(ROUTE, router_calls=[]),
    ]
    assert len({batch.hash_route(route) for route in [ROUTE, *changed]}) == len(changed) + 1


@pytest.mark.parametrize("contract", ["ServiceBatchV5PartnerFees", "ServiceBatchV4"])
def test_the_fields_of_a_route_are_in_the_builds_order(contract: str) -> None:
    route = entry(contract, "function", "sweep")["inputs"][0]["components"]
    assert names(route) == ["legs", "lastHop", "maxSkipped", "routerCalls"]
    assert names(route[0]["components"]) == list(BatchLeg.__dataclass_fields__)
    assert names(route[3]["components"]) == list(RouterCall.__dataclass_fields__)


@pytest.mark.parametrize("contract", ["ServiceBatchV5PartnerFees", "ServiceBatchV4"])
def test_the_event_of_a_leg_that_was_left_out_is_that_of_the_build(contract: str) -> None:
    event = entry(contract, "event", "LegSkipped")
    assert "0x" + event_abi_to_log_topic(event).hex() == batch.SKIPPED_TOPIC  # type: ignore[arg-type]
    assert names(event["inputs"]) == list(batch.SkippedLeg.__dataclass_fields__)
    assert [item["indexed"] for item in event["inputs"]] == [True, False, False, False]


@pytest.mark.parametrize("reason", SkipReason)
def test_a_leg_that_was_left_out_is_decoded_exactly(reason: SkipReason) -> None:
    data = b"\xff" * 32 + padded(ADDRESS) + reason.to_bytes(32, "big")
    log = Log(OTHER, (batch.SKIPPED_TOPIC, "0x" + "ff" * 32), data)
    assert batch.decode_skipped(log) == batch.SkippedLeg(2**256 - 1, 2**256 - 1, ADDRESS, reason)


GOOD_DATA = bytes(32) + padded(ADDRESS) + bytes(32)


@pytest.mark.parametrize(
    "log",
    [
        Log(ADDRESS, (), b""),
        Log(ADDRESS, (batch.SKIPPED_TOPIC,), GOOD_DATA),
        Log(ADDRESS, ("0x" + "00" * 32,) * 2, GOOD_DATA),
        Log(ADDRESS, (batch.SKIPPED_TOPIC, "0x" + "00" * 32), GOOD_DATA[:-1]),
        Log(ADDRESS, (batch.SKIPPED_TOPIC, "0x" + "00" * 32), GOOD_DATA[:-1] + b"\x03"),
        Log(ADDRESS, (batch.SKIPPED_TOPIC, "0x" + "00" * 32), b"\xff" * 96),
    ],
)
def test_malformed_logs_are_not_decoded(log: Log) -> None:
    assert batch.decode_skipped(log) is None


AUTHORIZATION = (ADDRESS, bytes(32), ADDRESS, ADDRESS, ADDRESS, 75, 4000, 5, 6, bytes(32))
PERMISSION = Permission(nonce=8, deadline=9)
ARGUMENTS = {
    v5.CONTRACT_NAME: (ROUTE.as_tuple(), AUTHORIZATION, bytes(65), 8, 9, PERMISSION.signature),
    v4.CONTRACT_NAME: (ROUTE.as_tuple(), (ADDRESS, 75, bytes(32)), 8, 9, PERMISSION.signature),
}
each_contract = pytest.mark.parametrize(
    ("contract", "entry_points"), [(v5.CONTRACT_NAME, v5.ENTRY_POINTS), (v4.CONTRACT_NAME, v4.ENTRY_POINTS)]
)


def decoded(contract: str, function: str, calldata: bytes) -> dict[str, Any]:
    """Return the arguments by name, as the contract reads them."""
    inputs = entry(contract, "function", function)["inputs"]
    values = decode([collapse_if_tuple(each) for each in inputs], calldata[4:])
    return dict(zip(names(inputs), values, strict=True))


@each_contract
@pytest.mark.parametrize("count", [1, 2, 30])
def test_the_parts_of_signatures_go_where_the_contract_reads_them(
    contract: str, entry_points: EntryPoints, count: int
) -> None:
    permits = [TokenPermit(leg, leg % 2 == 0, 100 + leg, 200 + leg) for leg in range(count)]
    calldata = bytearray(entry_points.encode_with_permits(ARGUMENTS[contract], permits))
    signatures = [bytes([i + 1]) * 32 + bytes([i + 101]) * 32 + bytes([27 + i % 2]) for i in range(count + 1)]
    for part in batch.signature_parts(bytes(calldata), count):
        assert calldata[part.offset : part.offset + part.length] == bytes(part.length)
        calldata[part.offset : part.offset + part.length] = signatures[part.signature][part.start :][: part.length]
    read = decoded(contract, "sweepWithPermits", bytes(calldata))
    assert read["permitSignature"] == signatures[count]
    assert read["permits"] == tuple(
        (leg, leg % 2 == 0, 100 + leg, 200 + leg, one[64], one[:32], one[32:64])
        for leg, one in enumerate(signatures[:count])
    )
    assert (read["permitNonce"], read["permitDeadline"]) == (8, 9)


@each_contract
def test_a_caller_needs_the_same_arguments_without_the_permission(contract: str, entry_points: EntryPoints) -> None:
    swept = decoded(contract, "sweep", entry_points.sweep.encode(*ARGUMENTS[contract]))
    by_caller = decoded(contract, "sweepAsCaller", entry_points.encode_as_caller(ARGUMENTS[contract]))
    assert by_caller.items() < swept.items()
    assert swept.keys() - by_caller.keys() == {"permitNonce", "permitDeadline", "permitSignature"}


@pytest.mark.parametrize("length", [0, 1, 64, 65, 66, 96, 1_000])
def test_a_signature_of_any_length_takes_the_place_of_the_placeholder(length: int) -> None:
    arguments = v5_arguments()
    calldata = v5.SWEEP.encode(*arguments)
    signature = bytes(i % 251 + 1 for i in range(length))
    signed = batch.with_signatures(calldata, permits=[], signature=signature)
    assert signed == v5.SWEEP.encode(*arguments[:-1], signature)


def test_signatures_of_permits_go_to_their_places() -> None:
    arguments, permits = v5_arguments(), [batch.TokenPermit(leg, False, leg, 9) for leg in (0, 1)]
    calldata = v5.ENTRY_POINTS.encode_with_permits(arguments, permits)
    signatures = [bytes([i]) * 32 + bytes([i + 10]) * 32 + bytes([27 + i]) for i in (0, 1)]
    signed = batch.with_signatures(calldata, permits=signatures, signature=b"\x07" * 65)
    with_values = [
        (*permit.as_tuple()[:4], signature[64], signature[:32], signature[32:64])
        for permit, signature in zip(permits, signatures, strict=True)
    ]
    assert signed == v5.SWEEP_WITH_PERMITS.encode(*arguments[:-3], with_values, *arguments[-3:-1], b"\x07" * 65)


def v5_arguments() -> tuple[Any, ...]:
    route = batch.BatchRoute([LEG, LEG], BatchHop(), 0, [batch.RouterCall(0, ADDRESS, b"\x01" * 40)])
    authorization = v5.Authorization(
        ADDRESS, "0x" + "11" * 32, ADDRESS, ADDRESS, ADDRESS, 75, 5_000, 1, 2, "0x" + "22" * 32
    )
    return v5.sweep_arguments(
        route=route, authorization=authorization, signature=b"\x03" * 65, permission=batch.Permission(4, 5)
    )
