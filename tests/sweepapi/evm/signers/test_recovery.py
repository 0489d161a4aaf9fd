"""A signature without a recovery id becomes one that the contract accepts, or is refused."""

import pytest
from coincurve.utils import GROUP_ORDER_INT
from eth_account import Account

from sweepapi.evm.chain.sending import signature_by
from sweepapi.evm.signers.recovery import recoverable
from tests.sweepapi.evm.signers.cases import ADDRESS, KEY

ACCOUNT = Account.from_key(KEY)


@pytest.mark.parametrize("number", range(8))
def test_r_and_s_are_completed_whether_s_is_low_or_high(number: int) -> None:
    preimage = bytes([number])
    expected = signature_by(ACCOUNT, preimage)
    r, s = expected[:32], int.from_bytes(expected[32:64], "big")
    for either in (s, GROUP_ORDER_INT - s):
        assert recoverable(r + either.to_bytes(32, "big"), preimage=preimage, address=ADDRESS) == expected


def test_a_signature_of_other_bytes_or_of_another_account_is_refused() -> None:
    compact = signature_by(ACCOUNT, b"these")[:64]
    with pytest.raises(ValueError, match="not a signature of this account"):
        recoverable(compact, preimage=b"others", address=ADDRESS)
    with pytest.raises(ValueError, match="not a signature of this account"):
        recoverable(compact, preimage=b"these", address="0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")


@pytest.mark.parametrize(
    "compact",
    [
        b"",
        b"\x01" * 63,
        b"\x01" * 65,
        b"\x00" * 64,
        b"\xff" * 64,
        b"\x01" * 32 + b"\x00" * 32,
        b"\x01" * 32 + GROUP_ORDER_INT.to_bytes(32, "big"),
        b"\x00" * 32 + b"\x01" * 32,
    ],
)
def test_what_is_not_a_signature_is_refused(compact: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        recoverable(compact, preimage=b"these", address=ADDRESS)
