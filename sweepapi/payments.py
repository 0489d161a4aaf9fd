"""Checks a payment to a partner: that one final transaction paid an amount from our wallets to one of the partner's.

How a transaction is read belongs to its family of networks; what it has to show is the same on all of them. Where a
network has several providers, two must show the same.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sweepapi.rpc import Provider, ProviderPool, agreement
from sweepapi.rpc.agreement import decide
from sweepapi.rpc.errors import ChainUnavailableError


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


class PaymentError(Exception):
    """The transaction is not the payment, or not yet; the message says why in a sentence."""

    def __init__(self, problem: PaymentProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem


@dataclass(frozen=True)
class Expected:
    """What the transaction should have paid; texts in canonical form, the amount in the asset's smallest unit."""

    tx_hash: str
    asset: str
    recipients: Sequence[str]  # any of these wallets; the first one is named if another wallet was paid
    amount: int


@dataclass(frozen=True)
class Payment:
    """The payment that was found."""

    sender: str  # the first of our wallets that paid
    recipient: str
    block_number: int  # on Solana, the slot


@dataclass(frozen=True)
class Movement:
    """An amount above zero of the asset that the transaction moved from one wallet to another."""

    sender: str
    recipient: str
    amount: int


class Included(Protocol):
    """A transaction in a block, equal to another if providers show the same of it."""

    @property
    def block_number(self) -> int: ...

    @property
    def has_succeeded(self) -> bool: ...

    def movements(self, asset: str) -> Sequence[Movement]: ...


@dataclass(frozen=True)
class PaymentOpinion:
    """What one provider shows of the transaction."""

    provider: Provider
    transaction: Included | None  # None while it is not in a block
    is_final: bool


# Asks one of the providers, except those that are given.
Ask = Callable[[Sequence[Provider]], PaymentOpinion]


def find_payment(expected: Expected, *, senders: Collection[str], pool: ProviderPool, ask: Ask) -> Payment:
    """Return the payment of exactly this amount by the senders to one of the recipients.

    Raises ``PaymentError``, and ``ChainUnavailableError`` if no provider answers.
    """
    transaction = _final(_alike(pool, ask))
    movements = transaction.movements(expected.asset)
    sent = [movement for movement in movements if movement.sender in senders]
    for wallet in expected.recipients:
        paid = [movement for movement in sent if movement.recipient == wallet]
        if paid and sum(movement.amount for movement in paid) == expected.amount:
            return Payment(paid[0].sender, wallet, transaction.block_number)
    raise _difference(movements, sent, expected)


def _alike(pool: ProviderPool, ask: Ask) -> Sequence[PaymentOpinion]:
    """Return the opinions of as many providers as are needed, which all show the same transaction."""
    opinions = [ask([])]
    while not (alike := _decided(opinions, pool)) and len(opinions) < len(pool.providers):
        try:
            opinions.append(ask([one.provider for one in opinions]))
        except ChainUnavailableError as error:
            message = "A second provider has to confirm the transaction, and none answers."
            raise PaymentError(PaymentProblem.PROVIDERS_DISAGREE, message) from error
    if not alike:
        message = "The providers show different things about this transaction; try again later."
        raise PaymentError(PaymentProblem.PROVIDERS_DISAGREE, message)
    return alike


def _decided(opinions: Sequence[PaymentOpinion], pool: ProviderPool) -> Sequence[PaymentOpinion]:
    """Return those who agree, if they are enough; that there is no such transaction can be agreed about, too."""
    decision = decide([agreement.Opinion(one.provider, [one.transaction]) for one in opinions], needed=pool.needed)
    return [one for one in opinions if one.provider in decision.supporters]


def _final(opinions: Sequence[PaymentOpinion]) -> Included:
    """Return the transaction that they all show; it succeeded, and its block is final."""
    transaction = opinions[0].transaction
    if transaction is None:
        raise PaymentError(PaymentProblem.NOT_FOUND, "No provider knows a mined transaction with this hash.")
    if not transaction.has_succeeded:
        raise PaymentError(PaymentProblem.REVERTED, "The transaction reverted, so it paid nothing.")
    if not all(opinion.is_final for opinion in opinions):
        message = f"Block {transaction.block_number} of the transaction is not final yet; try again later."
        raise PaymentError(PaymentProblem.NOT_FINAL, message)
    return transaction


def _difference(movements: Sequence[Movement], sent: Sequence[Movement], expected: Expected) -> PaymentError:
    """Say what the transaction did instead; ``sent`` are the movements from our wallets."""
    received = [movement for movement in movements if movement.recipient in expected.recipients]
    paid = [movement for movement in received if movement in sent]
    if paid:
        wallet = paid[0].recipient
        total = sum(movement.amount for movement in paid if movement.recipient == wallet)
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
