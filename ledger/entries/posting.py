"""The only way to write to the ledger: post or reverse the fee of a sweep's execution, or a payout to a partner.

Fees are posted inside the transaction that changes the sweep, so that its state and the ledger change together. What
takes from a partner's balance, payouts and reversals, first locks the partner, so that it happens one after another.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection, transaction
from uuid_utils.compat import uuid7

from ledger.errors import PayoutProblem, PayoutRefusedError
from ledger.models import Account, Asset, JournalEntry, Payout, Posting, Settlement
from ledger.payout_rules import Transfer, available_for, booking_epoch
from partners.models import Partner
from sweepapi.postgres.sets import Insert, as_row

# What identifies an account: network, asset, name, and partner unless it is the platform's.
AccountKey = tuple[str, str, str, UUID | None]
_ACCOUNTS = """
SELECT network, asset, name, partner_id, id FROM ledger_account
WHERE network = ANY(%(networks)s) AND asset = ANY(%(assets)s) AND name = ANY(%(names)s)
    AND (partner_id IS NULL OR partner_id = ANY(%(partners)s::uuid[]))
"""
_FINALIZE = """
INSERT INTO ledger_finality (entry_id, final_at) SELECT unnest(%s), statement_timestamp() ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, kw_only=True)
class SweepFee:
    """The fee of one execution of a sweep, in the asset's smallest unit; the protocol gets the rest of the fee.

    Raises ValueError unless 0 ≤ partner_fee ≤ total_fee.
    """

    sweep_ref: UUID
    execution_ref: UUID
    booking_epoch: int  # one more after each reversal of this execution's entry
    partner: Partner
    network: str
    asset: str
    symbol: str
    decimals: int
    wallet: str  # of the user
    tx_hash: str
    total_fee: int
    partner_fee: int
    settlement: Settlement
    entry_id: UUID = field(default_factory=uuid7)

    def __post_init__(self) -> None:
        if not 0 <= self.partner_fee <= self.total_fee:
            raise ValueError(f"A partner fee of {self.partner_fee} is not part of a total fee of {self.total_fee}.")

    def amounts(self) -> dict[AccountKey, int]:
        """Return what moves on each account: debits positive, credits negative, zeros left out."""
        on_chain = self.settlement == Settlement.ON_CHAIN
        amounts: dict[str, int] = {
            Account.Name.FEES_CHARGED: self.total_fee,
            Account.Name.PARTNER_SETTLED if on_chain else Account.Name.PARTNER_PAYABLE: -self.partner_fee,
            Account.Name.PROTOCOL_REVENUE: self.partner_fee - self.total_fee,
        }
        return {_key(self, name): amount for name, amount in amounts.items() if amount}

    def entry(self) -> JournalEntry:
        return JournalEntry(
            id=self.entry_id,
            kind=JournalEntry.Kind.SWEEP_FEE,
            sweep_ref=self.sweep_ref,
            execution_ref=self.execution_ref,
            booking_epoch=self.booking_epoch,
            partner=self.partner,
            network=self.network,
            asset=self.asset,
            wallet=self.wallet,
            tx_hash=self.tx_hash,
        )


def sweep_fee_rows(fees: Iterable[SweepFee]) -> tuple[Insert, Insert]:
    """Return the rows that book fees, apart from those of zero, to be written in the transaction that causes them.

    To write them raises IntegrityError if an epoch of an execution is booked already. Raises
    TransactionManagementError outside a transaction.
    """
    _require_transaction()
    charged = [fee for fee in fees if fee.total_fee]
    accounts = open_accounts(charged)
    moved = ((fee.entry_id, accounts[key], amount) for fee in charged for key, amount in fee.amounts().items())
    postings = [
        {"id": uuid7(), "entry_id": entry, "account_id": account, "amount": amount} for entry, account, amount in moved
    ]
    return Insert(JournalEntry, [as_row(fee.entry()) for fee in charged]), Insert(Posting, postings)


def open_accounts(fees: Collection[SweepFee]) -> Mapping[AccountKey, int]:
    """Return the accounts that these fees are booked on, by key; stores those that are missing, and their assets.

    Called before the transaction that posts many fees, so that it waits for no session that stores the same ones.
    """
    assets = {(fee.network, fee.asset): fee for fee in fees}
    return _accounts(
        {key for fee in fees for key in fee.amounts()},
        [
            Asset(network=network, asset=asset, symbol=fee.symbol, decimals=fee.decimals)
            for (network, asset), fee in sorted(assets.items())
        ],
    )


def finalize(entry_ids: Collection[UUID]) -> None:
    """Record that the executions behind these entries of fees are final; idempotent."""
    if entry_ids:
        with connection.cursor() as cursor:
            cursor.execute(_FINALIZE, [list(entry_ids)])


def reverse(entry: JournalEntry) -> JournalEntry:
    """Undo the entry of a sweep's fee, whose transaction left the chain, and return the reversing entry.

    Raises IntegrityError if the entry is reversed already or is not a sweep's fee, and TransactionManagementError
    outside a transaction.
    """
    _lock(entry.partner_id)
    return _mirror(entry, JournalEntry.Kind.REVERSAL)


def post_payout(
    transfer: Transfer, *, sender: str | None, block_number: int | None, recorded_by: str, note: str
) -> JournalEntry:
    """Book a payout and return its entry; sender and block are None if it was not checked on chain.

    Raises PayoutRefusedError if it is above what is available or booked already, and TransactionManagementError outside
    a transaction.
    """
    _lock_transfer(transfer)
    _lock(transfer.partner.pk)
    epoch = booking_epoch(transfer)
    available_for(transfer)
    entry = JournalEntry.objects.create(
        kind=JournalEntry.Kind.PAYOUT,
        booking_epoch=epoch,
        partner=transfer.partner,
        network=transfer.network,
        asset=transfer.asset,
        tx_hash=transfer.tx_hash,
        recorded_by=recorded_by,
        note=note,
    )
    _post(
        entry,
        {
            _key(entry, Account.Name.PARTNER_PAYABLE): transfer.amount,
            _key(entry, Account.Name.PARTNER_PAID): -transfer.amount,
        },
    )
    Payout.objects.create(entry=entry, recipient=transfer.recipient, sender=sender, block_number=block_number)
    return entry


def reverse_payout(entry: JournalEntry, *, recorded_by: str, note: str) -> JournalEntry:
    """Undo the entry of a payout that was recorded by mistake, and return the reversing entry.

    Raises PayoutRefusedError if it is not a payout or reversed already, and TransactionManagementError outside a
    transaction.
    """
    _lock(entry.partner_id)
    if entry.kind != JournalEntry.Kind.PAYOUT:
        raise PayoutRefusedError(PayoutProblem.NOT_REVERSIBLE, "Only a payout can be reversed by hand.")
    if JournalEntry.objects.filter(reverses=entry).exists():
        raise PayoutRefusedError(PayoutProblem.NOT_REVERSIBLE, "This payout is reversed already.")
    return _mirror(entry, JournalEntry.Kind.PAYOUT_REVERSAL, recorded_by=recorded_by, note=note)


def _mirror(entry: JournalEntry, kind: JournalEntry.Kind, **by_hand: str) -> JournalEntry:
    reversal = JournalEntry.objects.create(
        kind=kind,
        sweep_ref=entry.sweep_ref,
        execution_ref=entry.execution_ref,
        booking_epoch=entry.booking_epoch,
        partner_id=entry.partner_id,
        network=entry.network,
        asset=entry.asset,
        wallet=entry.wallet,
        tx_hash=entry.tx_hash,
        reverses=entry,
        **by_hand,
    )
    Posting.objects.bulk_create(
        Posting(entry=reversal, account_id=posting.account_id, amount=-posting.amount)
        for posting in entry.postings.all()
    )
    return reversal


def _lock_transfer(transfer: Transfer) -> None:
    """Serialise the bookings of one transfer, since partners who share a wallet could each be given it."""
    _require_transaction()
    key = f"{transfer.network}/{transfer.tx_hash}/{transfer.asset}"
    with transaction.get_connection().cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])


def _lock(partner_id: UUID) -> None:
    """Serialise what takes from a partner's balance; new fees of the partner are posted meanwhile."""
    _require_transaction()
    Partner.objects.select_for_update(no_key=True).get(pk=partner_id)


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("An entry is posted inside the transaction that causes it.")


def _post(entry: JournalEntry, amounts: Mapping[AccountKey, int]) -> None:
    accounts = _accounts(amounts.keys(), [])
    Posting.objects.bulk_create(
        Posting(entry=entry, account_id=accounts[key], amount=amount) for key, amount in amounts.items()
    )


def _key(facts: SweepFee | JournalEntry, name: str) -> AccountKey:
    return facts.network, facts.asset, name, facts.partner.pk if name.startswith("partner_") else None


def _accounts(keys: Collection[AccountKey], assets: Sequence[Asset]) -> Mapping[AccountKey, int]:
    """Return the ids of accounts; stores the missing ones, which another session may do at the same time.

    Only then are the assets stored, too, so that an entry on known accounts needs no extra query.
    """
    found = _find_accounts(keys)
    missing = sorted(set(keys) - set(found))  # sorted, so that two sessions cannot deadlock
    if not missing:
        return found
    with transaction.atomic():
        Asset.objects.bulk_create(assets, ignore_conflicts=True)
        Account.objects.bulk_create(
            [Account(network=network, asset=asset, name=name, partner_id=of) for network, asset, name, of in missing],
            ignore_conflicts=True,
        )
    return _find_accounts(keys)


def _find_accounts(keys: Collection[AccountKey]) -> dict[AccountKey, int]:
    if not keys:
        return {}
    networks, assets, names, partners = (list(set(values)) for values in zip(*keys, strict=True))
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(_ACCOUNTS, {"networks": networks, "assets": assets, "names": names, "partners": partners})
        return {(network, asset, name, of): account for network, asset, name, of, account in cursor.fetchall()}
