"""Sending transactions from our own accounts: their fees, their signed bytes, and how nodes respond to them.

A transaction is signed once and sent as often as needed: a node that already has it says so. The sender stores the
signed bytes first, so a crash in between never leads to a second transaction.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import rlp
from eth_account.signers.local import LocalAccount
from eth_typing import Hash32
from eth_utils.crypto import keccak

from sweepapi.evm.chain.blocks import head_call
from sweepapi.evm.chain.gas_price import gas_price_calls, gas_price_of
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.evm.encoding.responses import Block
from sweepapi.rpc import Call, ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError

GWEI = 10**9
TYPE = b"\x02"
NO_ACCESS_LIST: list[bytes] = []
V_OFFSET = 27  # of the recovery id in a signature of 65 bytes; transactions have the id itself


@dataclass(frozen=True)
class Fees:
    """The most that a transaction pays per unit of gas, in wei (EIP-1559)."""

    max_fee: int
    priority_fee: int

    def raised_to(self, market: "Fees", *, max_fee_cap: int) -> "Fees | None":
        """Return the fees that replace a transaction with these; None if they would exceed the cap.

        Nodes require both fees to rise by a tenth (geth's ``txpool.pricebump``); an eighth allows for rounding.
        """
        max_fee, priority_fee = (
            max(paid + paid // 8 + 1, current)
            for paid, current in ((self.max_fee, market.max_fee), (self.priority_fee, market.priority_fee))
        )
        return Fees(max_fee, min(priority_fee, max_fee)) if max_fee <= max_fee_cap else None


@dataclass(frozen=True)
class OutgoingTransaction:
    """A transaction before it is signed; without ``to`` it creates a contract. Amounts in wei."""

    chain_id: int
    account_nonce: int
    to: str | None
    data: bytes
    gas: int
    fees: Fees
    value: int = 0

    @property
    def preimage(self) -> bytes:
        """The bytes whose Keccak-256 hash is signed (EIP-1559)."""
        return _encoded(self._fields)

    def with_signature(self, signature: bytes) -> "SignedTransaction":
        """Return the bytes to send, with a signature (r, s, v) of 65 bytes; a low s is required."""
        r, s, v = signature[:32], signature[32:64], signature[64] - V_OFFSET
        raw = _encoded([*self._fields, v, int.from_bytes(r, "big"), int.from_bytes(s, "big")])
        return SignedTransaction(raw=raw, tx_hash=keccak_hex(raw))

    def signed_by(self, account: LocalAccount) -> "SignedTransaction":
        """Return the bytes to send, which are the same each time."""
        return self.with_signature(signature_by(account, self.preimage))

    @property
    def _fields(self) -> list[Any]:
        fees, to = self.fees, bytes.fromhex(self.to[2:]) if self.to is not None else b""
        head = [self.chain_id, self.account_nonce, fees.priority_fee, fees.max_fee, self.gas]
        return [*head, to, self.value, self.data, NO_ACCESS_LIST]


def _encoded(fields: list[Any]) -> bytes:
    return TYPE + bytes(rlp.encode(fields))


def signature_by(account: LocalAccount, preimage: bytes) -> bytes:
    """Return the signature (r, s, v) of the Keccak-256 hash of these bytes; s is low."""
    return bytes(account.unsafe_sign_hash(Hash32(keccak(preimage))).signature)


@dataclass(frozen=True)
class SignedTransaction:
    """The bytes of a transaction and its hash."""

    raw: bytes
    tx_hash: str


@dataclass(frozen=True)
class AccountState:
    """What an account's next transaction depends on, as of the latest block; amounts in wei."""

    head: Block
    base_fee: int
    priority_fee: int
    account_nonce: int
    balance: int

    def fees(self, *, max_fee_cap: int) -> Fees | None:
        """Return fees that suffice until the base fee has doubled, or None if it is above the cap already."""
        if self.base_fee > max_fee_cap:
            return None
        max_fee = min(2 * self.base_fee + self.priority_fee, max_fee_cap)
        return Fees(max_fee, min(self.priority_fee, max_fee))


def account_state_calls(account: str) -> list[Call]:
    """Return the calls whose results ``account_state_of`` reads.

    The transaction count is read before anything that a caller adds, so the rest reflects every transaction it counts.
    """
    return [
        Call("eth_getTransactionCount", (account, "latest"), responses.counter),
        head_call(),
        Call("eth_getBalance", (account, "latest"), responses.quantity),
        *gas_price_calls(),
    ]


def account_state_of(values: Sequence[Any]) -> AccountState:
    """Return the state from the results of ``account_state_calls``; raises ``ChainUnavailableError``."""
    account_nonce, head, balance, *prices = values
    price = gas_price_of(head, prices)
    if price is None:
        raise ChainUnavailableError("the provider does not say what gas costs")
    return AccountState(head, price.base_fee, price.priority_fee, account_nonce, balance)


class BroadcastResult(IntEnum):
    """How nodes responded to a transaction, from worst to best."""

    REFUSED = 0  # for any other reason
    INSUFFICIENT_FUNDS = 1
    UNDERPRICED = 2  # below the node's minimum, or below what a replacement must pay
    NONCE_TOO_LOW = 3  # the account's nonce was used, by this transaction or by another
    ALREADY_KNOWN = 4
    ACCEPTED = 5


# Nodes agree on neither codes nor words. These are from geth and its forks, Nethermind, Besu, OpenEthereum and anvil.
_WORDS = {
    BroadcastResult.ALREADY_KNOWN: r"already ?known|known transaction|already imported",
    BroadcastResult.NONCE_TOO_LOW: r"nonce (is )?too low|oldnonce|nonce has already been used",
    BroadcastResult.INSUFFICIENT_FUNDS: r"insufficient ?funds|insufficient balance|upfront cost",
    BroadcastResult.UNDERPRICED: r"underpriced|fee ?too ?low|replacement ?not ?allowed|same nonce in the queue|"
    r"less than block base fee|below (the )?(current base fee|configured minimum)",
}


def broadcast_result_of(error: object) -> BroadcastResult:
    """Return what a node's error to ``eth_sendRawTransaction`` means."""
    message = str(error.get("message")) if isinstance(error, dict) else ""
    meanings = (result for result, words in _WORDS.items() if re.search(words, message, re.IGNORECASE))
    return next(meanings, BroadcastResult.REFUSED)


def send(*, pool: ProviderPool, raw: bytes) -> BroadcastResult:
    """Send a signed transaction to every provider and return the best result; see ``send_all``."""
    return send_all(pool=pool, raws=[raw])[0]


def send_all(*, pool: ProviderPool, raws: Sequence[bytes]) -> list[BroadcastResult]:
    """Send signed transactions to every provider, one batch each, and return the best result of each in order.

    Every provider gets them, because a node may accept a transaction and not relay it. Raises
    ``ChainUnavailableError`` if none answered.
    """
    calls = [
        Call("eth_sendRawTransaction", ("0x" + raw.hex(),), _accepted, read_error=broadcast_result_of) for raw in raws
    ]
    return [max(results) for results in zip(*pool.ask_all(calls), strict=True)]


def _accepted(value: object) -> BroadcastResult:
    responses.hash32(value)
    return BroadcastResult.ACCEPTED
