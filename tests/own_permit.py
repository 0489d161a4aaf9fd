"""A user who executes a V4 sweep with a permit of their own: no signature of the service could forbid it."""

from typing import Any

from eth_abi.abi import decode
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount

from sweepapi.evm import v4
from sweepapi.evm.batch import LEG_TYPE
from tests.local_chain import LocalChain

TTL_SECONDS = 3600


def sweep_ref_of(built: dict[str, Any]) -> str:
    """Return the reference that a built V4 sweep has at the contract."""
    sweep_ref: str = built["permit2"]["message"]["witness"]["sweepRef"]
    return sweep_ref


def execute_with_own_permit(
    chain: LocalChain, user: LocalAccount, built: dict[str, Any], *, sweep_ref: str | None = None, nonce: int = 7
) -> str:
    """Send what was built for V4 under a new permit, and another reference if one is given; return the hash."""
    message = built["permit2"]["message"] | {
        "nonce": nonce,
        "deadline": chain.web3.eth.get_block("latest")["timestamp"] + TTL_SECONDS,
    }
    order = message["witness"] | {"sweepRef": sweep_ref or sweep_ref_of(built)}
    permit = built["permit2"] | {"message": message | {"witness": order}}
    signature = bytes(user.sign_message(encode_typed_data(full_message=permit)).signature)
    data = v4.SWEEP.encode(
        *decode([f"{LEG_TYPE}[]"], bytes.fromhex(built["transaction"]["data"][10:])),
        (
            order["outputToken"],
            int(order["minUserOutput"]),
            int(order["feeBps"]),
            bytes.fromhex(order["sweepRef"][2:]),
        ),
        nonce,
        message["deadline"],
        signature,
    )
    tx_hash = chain.send(user, {"to": chain.contracts["v4"], "data": f"0x{data.hex()}"})
    assert chain.receipt(tx_hash)["status"] == 1
    return tx_hash
