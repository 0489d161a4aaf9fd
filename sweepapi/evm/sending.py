"""Sending transactions from accounts of our own: their fees, their signed bytes, and what nodes answer to those.

Bytes are signed once and sent as often as it takes: a node that has them already says so. Whoever sends keeps them
first, so that a crash in between never leads to a second transaction.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from eth_account.signers.local import LocalAccount
from eth_account.types import TransactionDictType

from sweepapi.evm import answers
from sweepapi.evm.answers import Block
from sweepapi.evm.rpc import Call, ProviderPool

GWEI = 10**9


@dataclass(frozen=True)
class Fees:
    """What a transaction pays at most for a unit of gas, in wei (EIP-1559)."""

    max_fee: int
    priority_fee: int

    def raised_to(self, market: "Fees", *, max_fee_cap: int) -> "Fees | None":
        """Return the fees with which a transaction replaces one of these; None where the cap forbids it.

        Nodes want both fees to rise by a tenth (geth's ``txpool.pricebump``); an eighth leaves no doubt about rounding.
        """
        max_fee, priority_fee = (
            max(paid + paid // 8 + 1, asked)
            for paid, asked in ((self.max_fee, market.max_fee), (self.priority_fee, market.priority_fee))
        )
        return Fees(max_fee, min(priority_fee, max_fee)) if max_fee <= max_fee_cap else None


@dataclass(frozen=True)
class Transaction:
    """A transaction before it is signed; without ``to`` it creates a contract. Amounts in wei."""

    chain_id: int
    account_nonce: int
    to: str | None
    data: bytes
    gas: int
    fees: Fees
    value: int = 0

    def signed_by(self, account: LocalAccount) -> "SignedTransaction":
        """Return the bytes to send (EIP-1559), the same each time."""
        fields: TransactionDictType = {
            "type": 2,
            "chainId": self.chain_id,
            "nonce": self.account_nonce,
            "data": self.data,
            "value": self.value,
            "gas": self.gas,
            "maxFeePerGas": self.fees.max_fee,
            "maxPriorityFeePerGas": self.fees.priority_fee,
        }
        if self.to is not None:
            fields["to"] = bytes.fromhex(self.to[2:])
        signed = account.sign_transaction(fields)
        return SignedTransaction(raw=bytes(signed.raw_transaction), tx_hash=signed.hash.to_0x_hex())


@dataclass(frozen=True)
class SignedTransaction:
    """The bytes of a transaction, and the hash under which the chain will know it."""

    raw: bytes
    tx_hash: str


@dataclass(frozen=True)
class Terms:
    """What an account's next transaction meets on the latest block; amounts in wei."""

    head: Block
    base_fee: int
    priority_fee: int
    account_nonce: int
    balance: int

    def fees(self, *, max_fee_cap: int) -> Fees | None:
        """Return fees that stay good while the base fee doubles, or None where it is above the cap already."""
        if self.base_fee > max_fee_cap:
            return None
        max_fee = min(2 * self.base_fee + self.priority_fee, max_fee_cap)
        return Fees(max_fee, min(self.priority_fee, max_fee))


def terms_calls(account: str) -> list[Call]:
    """Return the calls whose answers ``terms_of`` reads.

    The count of transactions is asked before anything that a caller adds: whatever it covers, the rest has seen, too.
    """
    return [
        Call("eth_getTransactionCount", (account, "latest"), answers.counter),
        Call("eth_getBlockByNumber", ("latest", False), answers.block),
        Call("eth_feeHistory", ("0x1", "latest", []), answers.next_base_fee),
        Call("eth_maxPriorityFeePerGas", (), answers.quantity),
        Call("eth_getBalance", (account, "latest"), answers.quantity),
    ]


def terms_of(values: Sequence[Any]) -> Terms:
    """Return the terms from the answers to ``terms_calls``."""
    account_nonce, head, base_fee, priority_fee, balance = values
    return Terms(head, base_fee, priority_fee, account_nonce, balance)


class Reception(IntEnum):
    """How nodes received a transaction; the greater, the better for it."""

    REFUSED = 0  # for a reason that has no name here
    INSUFFICIENT_FUNDS = 1
    UNDERPRICED = 2  # below what the node takes, or what replacing another transaction costs
    NONCE_TOO_LOW = 3  # the account's nonce is used: by this transaction or by another
    ALREADY_KNOWN = 4
    ACCEPTED = 5


# Nodes agree on neither codes nor words: geth's and its kin's, Nethermind's, Besu's, OpenEthereum's, anvil's.
_WORDS = {
    Reception.ALREADY_KNOWN: r"already ?known|known transaction|already imported",
    Reception.NONCE_TOO_LOW: r"nonce (is )?too low|oldnonce|nonce has already been used",
    Reception.INSUFFICIENT_FUNDS: r"insufficient ?funds|insufficient balance|upfront cost",
    Reception.UNDERPRICED: r"underpriced|fee ?too ?low|replacement ?not ?allowed|same nonce in the queue|"
    r"less than block base fee|below (the )?(current base fee|configured minimum)",
}


def reception_of(error: object) -> Reception:
    """Return what a node's error to ``eth_sendRawTransaction`` means."""
    message = str(error.get("message")) if isinstance(error, dict) else ""
    meanings = (reception for reception, words in _WORDS.items() if re.search(words, message, re.IGNORECASE))
    return next(meanings, Reception.REFUSED)


def send(*, pool: ProviderPool, raw: bytes) -> Reception:
    """Send a signed transaction to every provider and return the best reception; see ``send_all``."""
    return send_all(pool=pool, raws=[raw])[0]


def send_all(*, pool: ProviderPool, raws: Sequence[bytes]) -> list[Reception]:
    """Send signed transactions to every provider, one batch each, and return the best reception of each in order.

    To every one, because a node that takes it may still keep it to itself. Raises ``ChainUnavailableError`` if none
    answered.
    """
    calls = [Call("eth_sendRawTransaction", ("0x" + raw.hex(),), _accepted, read_error=reception_of) for raw in raws]
    return [max(receptions) for receptions in zip(*pool.ask_all(calls), strict=True)]


def _accepted(value: object) -> Reception:
    answers.hash32(value)
    return Reception.ACCEPTED
