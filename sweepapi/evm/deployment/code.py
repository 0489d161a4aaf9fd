"""Compares code on chain with the committed record of the build, ``abi/build.json``.

A constructor writes the contract's immutables into its code. So the code is compared with the immutables set to zero,
and then each immutable with the value expected on this chain.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eth_utils.crypto import keccak

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.contracts.v5 import CONTRACT_NAME
from sweepapi.evm.deployment.differences import DeploymentDifference
from sweepapi.evm.deployment.specification import BATCHES, V5, Addresses
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.evm.encoding.eip712 import domain_separator

WORD = 32
VERSION = "5"


@dataclass(frozen=True)
class BuildRecord:
    """The build's record of one contract."""

    creation_code_hash: str
    runtime_code_hash: str  # with the immutables set to zero
    immutables: Mapping[str, tuple[int, ...]]  # byte offsets of each in the runtime code


@cache
def build_record(name: str) -> BuildRecord:
    path = Path(__file__).parents[1] / "abi" / "build.json"
    fields = json.loads(path.read_text(encoding="utf-8"))["contracts"][name]
    return BuildRecord(
        creation_code_hash=fields["creationCodeHash"],
        runtime_code_hash=fields["runtimeCodeHash"],
        immutables={
            name: tuple(reference["start"] for reference in references)
            for name, references in fields["immutables"].items()
        },
    )


def code_differences(name: str, on_chain: bytes, chain: Chain, at: Addresses) -> Iterator[DeploymentDifference]:
    """Yield the differences between a contract's code on chain and the build deployed with this chain's arguments."""
    record = build_record(name)
    masked = keccak_hex(_masked(on_chain, record)) if on_chain else "no code"
    if masked != record.runtime_code_hash:
        yield DeploymentDifference(f"{name} code, immutables masked", record.runtime_code_hash, masked)
        return
    expected = _immutables(name, chain, at)
    for immutable, offsets in record.immutables.items():
        for word in {on_chain[offset : offset + WORD] for offset in offsets} - {expected[immutable]}:
            yield DeploymentDifference(
                f"{name} immutable {immutable}", f"0x{expected[immutable].hex()}", f"0x{word.hex()}"
            )


def _immutables(name: str, chain: Chain, at: Addresses) -> dict[str, bytes]:
    """Return the expected immutables of a contract; those of ``EIP712`` start with ``_``."""
    own = {"PERMIT2": _word(chain.permit2), "WRAPPED_NATIVE": _word(chain.wrapped_native)} if name in BATCHES else {}
    if name != V5:
        return own
    domain = {"name": CONTRACT_NAME, "version": VERSION, "chainId": chain.chain_id, "verifyingContract": at.v5}
    return own | {
        "_cachedChainId": chain.chain_id.to_bytes(WORD, "big"),
        "_cachedDomainSeparator": domain_separator(**domain),
        "_cachedThis": _word(at.v5),
        "_hashedName": keccak(text=CONTRACT_NAME),
        "_hashedVersion": keccak(text=VERSION),
        "_name": _short_string(CONTRACT_NAME),
        "_version": _short_string(VERSION),
    }


def _masked(on_chain: bytes, record: BuildRecord) -> bytes:
    masked = bytearray(on_chain)
    for offset in (offset for offsets in record.immutables.values() for offset in offsets):
        masked[offset : offset + WORD] = bytes(len(masked[offset : offset + WORD]))
    return bytes(masked)


def _word(address: str) -> bytes:
    return bytes.fromhex(address[2:]).rjust(WORD, b"\0")


def _short_string(text: str) -> bytes:
    """Encode a text as OpenZeppelin's ``ShortStrings`` does: its bytes, and its length in the last byte."""
    return text.encode().ljust(WORD - 1, b"\0") + bytes([len(text)])
