"""Records what operators paid to partners: checks it against the books and on chain, then posts it.

Payouts are made outside this service, by a wallet whose key it does not have. On a network with providers the
transaction is read first, outside any database transaction; elsewhere the payout is recorded as unchecked.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from ledger.entries import posting
from ledger.errors import PayoutProblem, PayoutRefusedError
from ledger.models import Account, JournalEntry
from ledger.payout_rules import Transfer, available_for, booking_epoch
from partners.models import Partner
from sweepapi.evm.logs import payments as evm
from sweepapi.fields import UINT256_MAX, AccountAddressField, TransactionHashField
from sweepapi.networks import Networks
from sweepapi.payments import Expected, Payment, PaymentError
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.landed import payments as solana


@dataclass(frozen=True)
class CheckedPayout:
    """A payout that could be booked when it was checked."""

    transfer: Transfer
    payment: Payment | None  # None: not checked on chain, because the network has no provider
    available: int  # before it
    wallet_until: datetime | None = None  # set if it went to a former wallet of the partner

    @property
    def paid_to(self) -> str:
        """The wallet that was paid, for people; a former one is named as such."""
        if self.wallet_until is None:
            return self.transfer.recipient
        until = f"{self.wallet_until:%Y-%m-%d %H:%M:%S} UTC"
        return f"{self.transfer.recipient}, a former wallet of the partner, until {until}"


def transfer_of(*, partner: Partner, network: str, asset: str, amount: int, tx_hash: str) -> Transfer:
    """Return a payout to the partner's wallet, with its texts in canonical form; raises PayoutRefusedError."""
    if not 0 < amount <= UINT256_MAX:
        raise PayoutRefusedError(PayoutProblem.BAD_AMOUNT, "The amount must be above zero and fit 256 bits.")
    recipient = partner.recipient_on(network)
    is_evm = network.startswith("eip155:")
    if recipient is None:
        raise PayoutRefusedError(PayoutProblem.NO_WALLET, f"{partner} has no payout wallet on this network.")
    return Transfer(
        partner=partner,
        network=network,
        asset=_canonical(AccountAddressField.canonical, asset, PayoutProblem.BAD_ASSET, is_evm=is_evm),
        tx_hash=_canonical(TransactionHashField.canonical, tx_hash, PayoutProblem.BAD_HASH, is_evm=is_evm),
        amount=amount,
        recipient=recipient,
    )


def check_payout(registry: Networks, transfer: Transfer) -> CheckedPayout:
    """Check a payout against the books and on chain; raises PayoutRefusedError.

    It may have gone to a former wallet of the partner, which only the chain can show.
    """
    booking_epoch(transfer)  # first: of what is booked already, less than that is available
    available = available_for(transfer)
    former = {wallet.address: wallet.until for wallet in reversed(transfer.partner.former_wallets_on(transfer.network))}
    payment = _payment(registry, transfer, former=former)
    if payment is not None:
        transfer = replace(transfer, recipient=payment.recipient)
        booking_epoch(transfer)
    return CheckedPayout(transfer, payment, available, former.get(transfer.recipient))


def record_payout(checked: CheckedPayout, *, note: str, recorded_by: str) -> JournalEntry:
    """Book a payout that was checked and return its entry; raises PayoutRefusedError if the books changed meanwhile."""
    payment = checked.payment
    with transaction.atomic():
        return posting.post_payout(
            checked.transfer,
            sender=None if payment is None else payment.sender,
            block_number=None if payment is None else payment.block_number,
            recorded_by=recorded_by,
            note=note.strip(),
        )


def reverse_payout(entry: JournalEntry, *, reason: str, recorded_by: str) -> JournalEntry:
    """Reverse a payout that was recorded by mistake and return the reversing entry; raises PayoutRefusedError."""
    if not reason.strip():
        raise PayoutRefusedError(PayoutProblem.NO_REASON, "A reason is required.")
    with transaction.atomic():
        return posting.reverse_payout(entry, recorded_by=recorded_by, note=reason.strip())


def find_payment(registry: Networks, entry: JournalEntry) -> Payment | None:
    """Look on chain again for a payout that was recorded; None if its network has no provider.

    Raises PayoutRefusedError if it is not there, or if no provider answers.
    """
    transfer = Transfer(
        partner=entry.partner,
        network=entry.network,
        asset=entry.asset,
        tx_hash=entry.tx_hash,
        amount=entry.postings.get(account__name=Account.Name.PARTNER_PAYABLE).amount,
        recipient=entry.payout.recipient,
    )
    return _payment(registry, transfer, former=())


def _canonical(read: Callable[[str], str], text: str, problem: PayoutProblem, *, is_evm: bool) -> str:
    try:
        value = read(text.strip())
    except ValueError as error:
        raise PayoutRefusedError(problem, str(error)) from error
    if value.startswith("0x") != is_evm:
        raise PayoutRefusedError(problem, f"{value} does not fit the network.")
    return value


def _payment(registry: Networks, transfer: Transfer, *, former: Iterable[str]) -> Payment | None:
    """Find the payment to the transfer's recipient or to a former wallet; None if the network has no provider."""
    expected = Expected(transfer.tx_hash, transfer.asset, (transfer.recipient, *former), transfer.amount)
    try:
        return _find(registry, expected, transfer.network)
    except PaymentError as error:
        raise PayoutRefusedError(error.problem, str(error)) from error
    except ChainUnavailableError as error:
        message = f"No provider of {registry.name_of(transfer.network)} answers; try again later."
        raise PayoutRefusedError(PayoutProblem.CHAIN_UNAVAILABLE, message) from error


def _find(registry: Networks, expected: Expected, network: str) -> Payment | None:
    if any(cluster.network == network for cluster in registry.enabled_clusters):
        senders = registry.payout_senders(network)
        return solana.check_payment(expected, senders=senders, pool=registry.pool(network))
    chain = next((chain for chain in registry.enabled if chain.network == network), None)
    return None if chain is None else evm.check_payment(expected, chain=chain, pool=registry.pool(network))
