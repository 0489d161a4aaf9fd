"""The fee signer signs as the contract requires and never shows its key."""

from sweepapi.evm import v5
from sweepapi.evm.signer import FeeSigner

KEY = "0x" + "5e" * 32
HALF_OF_THE_CURVES_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0  # SEC 2, secp256k1: n / 2
ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


def test_every_signature_is_65_bytes_with_a_low_s() -> None:
    signer = FeeSigner(KEY)
    for nonce in range(20):
        typed_data = v5.Authorization(
            ADDRESS, "0x" + "11" * 32, ADDRESS, ADDRESS, ADDRESS, 75, 4000, nonce, 1, "0x" + "22" * 32
        ).typed_data(chain_id=1, contract=ADDRESS)
        signature = signer.sign(typed_data)
        assert len(signature) == 65
        assert int.from_bytes(signature[32:64], "big") <= HALF_OF_THE_CURVES_ORDER
        assert signature[64] in (27, 28)


def test_the_key_is_not_shown() -> None:
    signer = FeeSigner(KEY)
    assert repr(signer) == f"<FeeSigner {signer.address}>"
    assert "5e5e" not in f"{signer} {signer!r}"
