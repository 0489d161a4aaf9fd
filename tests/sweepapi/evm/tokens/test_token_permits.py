"""Which tokens take permits is believed only if what they report fits together."""

from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from sweepapi.evm.encoding.eip712 import domain_separator
from sweepapi.evm.tokens.erc20 import MAX_NAME_CHARACTERS, UNLIMITED
from sweepapi.evm.tokens.token_permits import PermitGrant, PermitKind, TokenPermits, permit_reads, token_permits

TOKEN = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
OWNER, SPENDER = "0x" + "11" * 20, "0x" + "22" * 20
CHAIN_ID = 8453
DAI_TYPEHASH = bytes.fromhex("ea2aa0a1be11a07ed86d755c93467f4f82362b452371d1ba94d1715123511acb")
EIP2612_TYPEHASH = bytes.fromhex("6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9")
NUL, RIGHT_TO_LEFT = "\x00", "\N{RIGHT-TO-LEFT OVERRIDE}"


def separator(name: str, version: str, *, chain_id: int = CHAIN_ID, token: str = TOKEN) -> bytes:
    return domain_separator(name=name, version=version, chainId=chain_id, verifyingContract=token)


def described(name: str, version: str, *, has: int = 0x0F) -> tuple[Any, ...]:
    """Return what a token with EIP-5267 says about its domain."""
    return (bytes([has]), name, version, CHAIN_ID, TOKEN, bytes(32), ())


def found(**reported: Any) -> TokenPermits | None:
    """Return what is found of a token that reports the name "Coin", version 3 and a fitting separator, and changes."""
    reads: dict[str, Any] = {
        "nonce": (7,),
        "separator": (separator("Coin", "3"),),
        "typehash": None,
        "described": None,
        "name": ("Coin",),
        "version": ("3",),
    }
    return token_permits(list((reads | reported).values()), token=TOKEN, chain_id=CHAIN_ID)


def test_the_domain_and_the_next_nonce_are_read() -> None:
    assert found() == TokenPermits(PermitKind.EIP2612, "Coin", "3", 7)
    assert [read.function.signature for read in permit_reads(token=TOKEN, owner=OWNER)] == [
        "nonces(address)",
        "DOMAIN_SEPARATOR()",
        "PERMIT_TYPEHASH()",
        "eip712Domain()",
        "name()",
        "version()",
    ]


@pytest.mark.parametrize(
    ("chain_id", "token", "name", "version", "published"),
    [
        (
            1,
            "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
            "USD Coin",
            "2",
            "06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335",
        ),
        (
            1,
            "0x6B175474E89094C44Da98b954EedeAC495271d0F",
            "Dai Stablecoin",
            "1",
            "dbb8cf42e1ecb028be3f3dbc922e1d878b963f411dc388ced501601c60f7c6f7",
        ),
    ],
)
def test_the_separators_of_known_tokens_are_recognized(
    chain_id: int, token: str, name: str, version: str, published: str
) -> None:
    reads = [(0,), (bytes.fromhex(published),), None, None, (name,), None]
    its = token_permits(reads, token=token, chain_id=chain_id)
    assert its is not None
    assert (its.name, its.version) == (name, version)


@pytest.mark.parametrize("version", ["1", "2"])
def test_without_a_version_the_usual_ones_are_tried(version: str) -> None:
    its = found(separator=(separator("Coin", version),), version=None)
    assert its is not None
    assert its.version == version


def test_the_domain_that_the_token_describes_comes_first_but_must_fit_as_well() -> None:
    signed = (separator("Signed coin", "9"),)
    its = found(separator=signed, described=described("Signed coin", "9"))
    assert its is not None
    assert (its.name, its.version) == ("Signed coin", "9")
    assert found(separator=signed, described=described("Another coin", "9")) is None
    assert found(separator=signed, described=described("Signed coin", "9", has=0x1F)) is None, "with a salt"
    assert found(described=described("Another coin", "9")) == found(), "the name and version that do fit"


@pytest.mark.parametrize(
    "reported",
    [
        {"nonce": None},
        {"separator": None},
        {"name": None},
        {"separator": (bytes(32),)},
        {"separator": (separator("Coin", "3", chain_id=1),)},
        {"separator": (separator("Coin", "3", token=OWNER),)},
        {"separator": (separator("coin", "3"),)},
        {"separator": (separator("Coin", "4"),)},
        {"typehash": (keccak(b"Permit(address owner,address spender,uint256 value)"),)},
        {"typehash": (bytes(32),)},
    ],
)
def test_a_token_takes_no_permits_if_a_report_is_missing_or_does_not_fit(reported: dict[str, Any]) -> None:
    assert found(**reported) is None


@pytest.mark.parametrize(
    "name", [f"Co{NUL}in", f"Co{RIGHT_TO_LEFT}in", " Coin", "x" * (MAX_NAME_CHARACTERS + 1), "Coin\n"]
)
def test_a_name_that_has_to_be_cleaned_to_be_shown_is_not_signed(name: str) -> None:
    assert found(name=(name,), separator=(separator(name, "3"),)) is None
    assert found(version=(name,), separator=(separator("Coin", name),)) is None


@pytest.mark.parametrize(("typehash", "kind"), [(DAI_TYPEHASH, PermitKind.DAI), (EIP2612_TYPEHASH, PermitKind.EIP2612)])
def test_the_kind_follows_from_the_type_hash(typehash: bytes, kind: PermitKind) -> None:
    its = found(typehash=(typehash,))
    assert its is not None
    assert its.kind is kind


def test_dais_kind_cannot_limit_the_allowance() -> None:
    for kind, can_limit in [(PermitKind.EIP2612, True), (PermitKind.DAI, False)]:
        permits = TokenPermits(kind, "Coin", "1", 0)
        assert (permits.can_give(5), permits.can_give(UNLIMITED)) == (can_limit, True)


@pytest.mark.parametrize(
    ("kind", "typehash", "types", "values"),
    [
        (
            PermitKind.EIP2612,
            EIP2612_TYPEHASH,
            ["address", "address", "uint256", "uint256", "uint256"],
            [OWNER, SPENDER, 5, 7, 99],
        ),
        (
            PermitKind.DAI,
            DAI_TYPEHASH,
            ["address", "address", "uint256", "uint256", "bool"],
            [OWNER, SPENDER, 7, 99, True],
        ),
    ],
)
def test_what_is_signed_is_what_the_token_hashes(
    kind: PermitKind, typehash: bytes, types: list[str], values: list[Any]
) -> None:
    grant = PermitGrant(chain_id=CHAIN_ID, token=TOKEN, owner=OWNER, spender=SPENDER, value=5, deadline=99)
    typed_data = TokenPermits(kind, "Coin", "3", 7).typed_data(grant)
    struct = keccak(encode(["bytes32", *types], [typehash, *values]))
    assert typed_data.digest == "0x" + keccak(b"\x19\x01" + separator("Coin", "3") + struct).hex()
