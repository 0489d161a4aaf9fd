"""What the signers of these tests sign, and with which key."""

from eth_account import Account

from sweepapi.evm.chain.sending import GWEI, Fees, OutgoingTransaction
from sweepapi.evm.contracts import v5
from sweepapi.evm.encoding.eip712 import TypedData

KEY = "0x" + "5e" * 32
ADDRESS: str = Account.from_key(KEY).address
CONTRACT = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
HALF_OF_THE_CURVES_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0  # SEC 2, secp256k1: n / 2


def authorization(nonce: int) -> TypedData:
    """Return the typed data of an authorization with this nonce."""
    return v5.Authorization(
        CONTRACT, "0x" + "11" * 32, CONTRACT, CONTRACT, CONTRACT, 75, 4000, nonce, 1, "0x" + "22" * 32
    ).typed_data(chain_id=1, contract=CONTRACT)


def cancellation(account_nonce: int) -> OutgoingTransaction:
    """Return a transaction that cancels an authorization."""
    return OutgoingTransaction(
        chain_id=8453,
        account_nonce=account_nonce,
        to=CONTRACT,
        data=v5.CANCEL_AUTHORIZATION.encode(7),
        gas=60_000,
        fees=Fees(3 * GWEI, GWEI),
    )
