"""The ledger's tables."""

from ledger.models.books import PartnerBooks
from ledger.models.journal import Account, Asset, JournalEntry, Posting, Settlement
from ledger.models.numbers import EntryNumber
from ledger.models.payouts import Finality, Payout

__all__ = [
    "Account",
    "Asset",
    "EntryNumber",
    "Finality",
    "JournalEntry",
    "PartnerBooks",
    "Payout",
    "Posting",
    "Settlement",
]
