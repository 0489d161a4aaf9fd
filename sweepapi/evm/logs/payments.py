"""Reads a payment on an EVM chain: from the ``Transfer`` logs of the token, or the value in the native coin.

Only the asset's own contract counts as the emitter of a transfer, and only the transaction's own value as a payment in
the native coin: what a contract passes on inside a call leaves no log.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sweepapi.evm.chain.blocks import head_call, optional_block_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.addresses import NATIVE_COIN, eip55
from sweepapi.evm.encoding.responses import Block, Log, NativeTransfer, Receipt
from sweepapi.evm.tokens.erc20 import TRANSFER_TOPIC
from sweepapi.payments import Expected, Movement, Payment, PaymentOpinion, find_payment
from sweepapi.rpc import Call, Provider, ProviderPool

_TRANSFER_TOPICS, _WORD_BYTES = 3, 32
_ADDRESS_TOPIC_START = f"0x{'00' * 12}"


@dataclass(frozen=True)
class _Mined:
    receipt: Receipt
    transaction: NativeTransfer

    @property
    def block_number(self) -> int:
        return self.receipt.block_number

    @property
    def has_succeeded(self) -> bool:
        return self.receipt.succeeded

    def movements(self, asset: str) -> Sequence[Movement]:
        """Return what the transaction moved of an asset; transfers of zero, which anyone can fake, are left out."""
        sent = self.transaction
        if asset != NATIVE_COIN:
            found = [_transfer(log) for log in self.receipt.logs if log.address == asset]
        elif sent.recipient is None:
            found = []
        else:
            found = [Movement(sent.sender, sent.recipient, sent.value)]
        return [movement for movement in found if movement is not None and movement.amount > 0]


def check_payment(expected: Expected, *, chain: Chain, pool: ProviderPool) -> Payment:
    """Return the payment by the chain's payout senders; raises as ``find_payment`` does."""
    return find_payment(
        expected,
        senders=chain.payout_senders,
        pool=pool,
        ask=lambda exclude: _ask(chain, pool, expected.tx_hash, exclude),
    )


def _ask(chain: Chain, pool: ProviderPool, tx_hash: str, exclude: Sequence[Provider]) -> PaymentOpinion:
    final = chain.finality.final
    calls = [
        head_call(),
        head_call() if isinstance(final, int) else optional_block_call(final),
        Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash)),
        Call("eth_getTransactionByHash", (tx_hash,), responses.transaction_of(tx_hash)),
    ]
    provider, (head, tagged, receipt, transaction) = pool.ask(calls, exclude=exclude)
    # A block above the head is not on this chain yet, or made up.
    if receipt is None or transaction is None or receipt.block_number > head.number:
        return PaymentOpinion(provider, None, is_final=False)
    is_final = _final_number(final, head, tagged) >= receipt.block_number
    return PaymentOpinion(provider, _Mined(receipt, transaction), is_final=is_final)


def _final_number(final: str | int, head: Block, tagged: Block | None) -> int:
    """Return the height of the last final block; it is below the first block if the chain has none yet."""
    if isinstance(final, int):
        return head.number - final
    return -1 if tagged is None else tagged.number


def _transfer(log: Log) -> Movement | None:
    """Return the transfer of this log, or None if it is not a well-formed ``Transfer`` of an ERC-20."""
    topics = log.topics
    if len(topics) != _TRANSFER_TOPICS or topics[0] != TRANSFER_TOPIC or len(log.data) != _WORD_BYTES:
        return None
    if not all(topic.startswith(_ADDRESS_TOPIC_START) for topic in topics[1:]):
        return None
    sender, recipient = (eip55(topic[-40:]) for topic in topics[1:])
    return Movement(sender, recipient, int.from_bytes(log.data, "big"))
