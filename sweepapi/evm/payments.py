"""Checks a payment on chain: that one transaction, in a final block, paid an amount from our wallets to another's.

Where a chain has several providers, a second one must show the same. Only the asset's own contract counts as the
emitter of a transfer, and only the transaction's own value as a payment in the native coin: what a contract passes on
inside a call leaves no log.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from eth_utils.address import to_checksum_address

from sweepapi.evm import responses
from sweepapi.evm.addresses import NATIVE_COIN, keccak_hex
from sweepapi.evm.chains import Chain
from sweepapi.evm.errors import EvmError
from sweepapi.evm.responses import Log, Receipt, Transaction
from sweepapi.rpc import Call, Provider, ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError

_TRANSFER_TOPIC = keccak_hex(b"Transfer(address,address,uint256)")
_TRANSFER_TOPICS, _WORD_BYTES = 3, 32
_ADDRESS_TOPIC_START = f"0x{'00' * 12}"


class PaymentProblem(StrEnum):
    """Why a transaction is not the payment, as stable codes."""

    NOT_FOUND = "not_found"
    REVERTED = "reverted"
    NOT_FINAL = "not_final"
    PROVIDERS_DISAGREE = "providers_disagree"
    NOT_PAID = "not_paid"
    WRONG_RECIPIENT = "wrong_recipient"
    WRONG_SENDER = "wrong_sender"
    WRONG_AMOUNT = "wrong_amount"


class PaymentError(EvmError):
    """The transaction is not the payment, or not yet; the message says why in a sentence."""

    def __init__(self, problem: PaymentProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem


@dataclass(frozen=True)
class Expected:
    """What the transaction should have paid; addresses in EIP-55, the amount in the asset's smallest unit."""

    tx_hash: str
    asset: str
    recipients: Sequence[str]  # any of these wallets; the first one is named if another wallet was paid
    amount: int


@dataclass(frozen=True)
class Payment:
    """The payment that was found."""

    sender: str  # the first of our wallets that paid
    recipient: str
    block_number: int


@dataclass(frozen=True)
class _Transfer:
    sender: str
    recipient: str
    amount: int


@dataclass(frozen=True)
class _Opinion:
    """What one provider shows of the transaction."""

    receipt: Receipt | None  # None while it is not in a block
    transaction: Transaction | None
    final_number: int | None  # None where the chain has no final block yet


def check_payment(expected: Expected, *, chain: Chain, pool: ProviderPool) -> Payment:
    """Return the payment of exactly this amount to one of the recipients by the chain's payout senders.

    Raises ``PaymentError``, and ``ChainUnavailableError`` if no provider answers.
    """
    first, opinion = _ask(chain, pool, expected.tx_hash)
    opinions = [opinion]
    if len(pool.providers) > 1:
        opinions.append(_ask_another(chain, pool, expected.tx_hash, first))
    receipt, transaction = _mined(opinions)
    transfers = _transfers(expected.asset, receipt, transaction)
    sent = [transfer for transfer in transfers if transfer.sender in chain.payout_senders]
    for wallet in expected.recipients:
        paid = [transfer for transfer in sent if transfer.recipient == wallet]
        if paid and sum(transfer.amount for transfer in paid) == expected.amount:
            return Payment(paid[0].sender, wallet, receipt.block_number)
    raise _difference(transfers, sent, expected)


def _ask(
    chain: Chain, pool: ProviderPool, tx_hash: str, *, exclude: Provider | None = None
) -> tuple[Provider, _Opinion]:
    final = chain.finality.final
    tag = "latest" if isinstance(final, int) else final
    calls = [
        Call("eth_getBlockByNumber", ("latest", False), responses.block),
        Call("eth_getBlockByNumber", (tag, False), responses.optional_block),
        Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash)),
        Call("eth_getTransactionByHash", (tx_hash,), responses.transaction_of(tx_hash)),
    ]
    provider, (head, tagged, receipt, transaction) = pool.ask(calls, exclude=exclude)
    if receipt is not None and receipt.block_number > head.number:
        receipt = None  # its block is not on this chain yet, or made up
    if isinstance(final, int):
        return provider, _Opinion(receipt, transaction, head.number - final)
    return provider, _Opinion(receipt, transaction, None if tagged is None else tagged.number)


def _ask_another(chain: Chain, pool: ProviderPool, tx_hash: str, first: Provider) -> _Opinion:
    try:
        return _ask(chain, pool, tx_hash, exclude=first)[1]
    except ChainUnavailableError as error:
        message = "A second provider has to confirm the transaction, and none answers."
        raise PaymentError(PaymentProblem.PROVIDERS_DISAGREE, message) from error


def _mined(opinions: Sequence[_Opinion]) -> tuple[Receipt, Transaction]:
    """Return the transaction as all providers show it; it succeeded, and its block is final."""
    if len({(opinion.receipt, opinion.transaction) for opinion in opinions}) > 1:
        message = "The providers show different things about this transaction; try again later."
        raise PaymentError(PaymentProblem.PROVIDERS_DISAGREE, message)
    receipt, transaction = opinions[0].receipt, opinions[0].transaction
    if receipt is None or transaction is None:
        raise PaymentError(PaymentProblem.NOT_FOUND, "No provider knows a mined transaction with this hash.")
    if not receipt.succeeded:
        raise PaymentError(PaymentProblem.REVERTED, "The transaction reverted, so it paid nothing.")
    if not all(one.final_number is not None and one.final_number >= receipt.block_number for one in opinions):
        message = f"Block {receipt.block_number} of the transaction is not final yet; try again later."
        raise PaymentError(PaymentProblem.NOT_FINAL, message)
    return receipt, transaction


def _transfers(asset: str, receipt: Receipt, transaction: Transaction) -> list[_Transfer]:
    """Return what the transaction moved of an asset; transfers of zero, which anyone can fake, are left out."""
    if asset != NATIVE_COIN:
        found = [_transfer(log) for log in receipt.logs if log.address == asset]
    elif transaction.recipient is None:
        found = []
    else:
        found = [_Transfer(transaction.sender, transaction.recipient, transaction.value)]
    return [transfer for transfer in found if transfer is not None and transfer.amount > 0]


def _transfer(log: Log) -> _Transfer | None:
    """Return the transfer of this log, or None if it is not a well-formed ``Transfer`` of an ERC-20."""
    topics = log.topics
    if len(topics) != _TRANSFER_TOPICS or topics[0] != _TRANSFER_TOPIC or len(log.data) != _WORD_BYTES:
        return None
    if not all(topic.startswith(_ADDRESS_TOPIC_START) for topic in topics[1:]):
        return None
    sender, recipient = (to_checksum_address(topic[-40:]) for topic in topics[1:])
    return _Transfer(sender, recipient, int.from_bytes(log.data, "big"))


def _difference(transfers: Sequence[_Transfer], sent: Sequence[_Transfer], expected: Expected) -> PaymentError:
    """Say what the transaction did instead; ``sent`` are the transfers from our wallets."""
    received = [transfer for transfer in transfers if transfer.recipient in expected.recipients]
    paid = [transfer for transfer in received if transfer in sent]
    if paid:
        wallet = paid[0].recipient
        total = sum(transfer.amount for transfer in paid if transfer.recipient == wallet)
        message = f"The transaction paid {total} units to {wallet}, and not {expected.amount}."
        return PaymentError(PaymentProblem.WRONG_AMOUNT, message)
    if received:
        wallet, sender = received[0].recipient, received[0].sender
        message = f"The transaction paid {wallet} from {sender}, which is not one of our payout senders."
        return PaymentError(PaymentProblem.WRONG_SENDER, message)
    wallet = expected.recipients[0]
    if sent:
        message = f"The transaction paid {sent[0].recipient}, and the partner's wallet is {wallet}."
        return PaymentError(PaymentProblem.WRONG_RECIPIENT, message)
    message = f"The transaction moved nothing of this asset from our payout senders, nor to {wallet}."
    return PaymentError(PaymentProblem.NOT_PAID, message)
