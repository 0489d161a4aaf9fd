"""Our encoding of arguments, and our decoding of words, agree with eth_abi."""

import random
from typing import Any

import pytest
from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError
from eth_abi.grammar import TupleType, parse

from sweepapi.evm.chain.multicall import AGGREGATE3, results_of
from sweepapi.evm.contracts.batch import ROUTE_TYPE
from sweepapi.evm.encoding.abi import Function
from sweepapi.rpc.errors import BadResponseError

SIGNATURES = [
    "f()",
    "f(address)",
    "f(address,uint256)",
    "f(bool,bytes4,int24,int256,uint8)",
    "f(bytes[])",
    "f(string,uint256[],bytes)",
    "f((address,uint24)[],(bytes,address,uint256))",
    "f((uint16,(address,bytes32,uint8))[],bytes4[])",
    "f((bytes,(string,uint8)[])[],uint256[][])",
    f"f({ROUTE_TYPE},bytes)",
    AGGREGATE3.signature,
]
WORDS = ["address", "bool", "uint8", "uint160", "uint256", "int24", "int256", "bytes1", "bytes32"]


def types_of(signature: str) -> list[str]:
    parsed = parse(signature[1:]) if signature != "f()" else None
    return [kind.to_type_str() for kind in parsed.components] if isinstance(parsed, TupleType) else []


CHANCE = random.Random(11)  # noqa: S311 - the same cases every time


def some_value(kind: Any) -> Any:
    if kind.is_array:
        return [some_value(kind.item_type) for _ in range(CHANCE.randrange(4))]
    if isinstance(kind, TupleType):
        return tuple(some_value(component) for component in kind.components)
    size = kind.sub or 0
    values = {
        "address": f"0x{CHANCE.randbytes(20).hex()}",
        "bool": CHANCE.random() < 0.5,
        "uint": CHANCE.getrandbits(size) >> CHANCE.randrange(size or 1),
        "int": CHANCE.getrandbits(size) - (1 << size >> 1),
        "string": "é" * CHANCE.randrange(40),
        "bytes": CHANCE.randbytes(size or CHANCE.randrange(70)),
    }
    return values[kind.base]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_calls_are_encoded_as_eth_abi_does(signature: str) -> None:
    signature = signature.replace("aggregate3", "f")
    types = types_of(signature)
    for _ in range(100):
        values = [some_value(parse(kind)) for kind in types]
        assert Function(signature).encode(*values)[4:] == encode(types, values)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("address", "0x12"),
        ("address", "0x" + "zz" * 20),
        ("bool", 2),
        ("uint8", 256),
        ("uint8", -1),
        ("int8", 128),
        ("bytes4", b"\0" * 3),
        ("(uint8,uint8)", (1,)),
    ],
)
def test_values_of_another_type_are_not_encoded(kind: str, value: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each has a message of its own
        Function(f"f({kind})").encode(value)


@pytest.mark.parametrize("kind", WORDS)
def test_words_are_decoded_or_refused_as_eth_abi_does(kind: str) -> None:
    function = Function("f()", f"({kind},uint256)")
    for _ in range(300):
        word = encode([kind], [some_value(parse(kind))])
        if CHANCE.random() < 0.5:  # a word that may be of another type
            word = bytes(byte if CHANCE.random() < 0.9 else CHANCE.randrange(256) for byte in word)
        output = (word + bytes(32))[: CHANCE.choice([40, 64, 64, 64])] + CHANCE.randbytes(CHANCE.randrange(3))
        try:
            expected = decode([kind, "uint256"], output)
        except DecodingError:
            with pytest.raises(BadResponseError):
                function.decode(output)
        else:
            assert function.decode(output) == expected


def test_the_results_of_a_multicall_are_those_that_eth_abi_reads_or_refused() -> None:
    for _ in range(300):
        results = [(CHANCE.random() < 0.5, CHANCE.randbytes(CHANCE.randrange(70))) for _ in range(CHANCE.randrange(5))]
        output = encode(["(bool,bytes)[]"], [results])
        assert list(results_of(output, len(results))) == results
        with pytest.raises(BadResponseError):
            list(results_of(output, len(results) + 1))
        with pytest.raises(BadResponseError):
            list(results_of(output[: CHANCE.randrange(len(output) - 32 * bool(results))], max(len(results), 1)))


def test_offsets_that_lead_out_of_the_response_are_refused() -> None:
    output = bytearray(encode(["(bool,bytes)[]"], [[(True, b"abc")]]))
    for start in range(0, len(output), 32):
        for huge in (len(output), 2**64, 2**256 - 1):
            changed = output.copy()
            changed[start : start + 32] = huge.to_bytes(32)
            if start not in (96, 192):  # whether it succeeded, and the bytes themselves
                with pytest.raises(BadResponseError):
                    list(results_of(bytes(changed), 1))
