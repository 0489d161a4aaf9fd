"""The ledger's tables."""

from ledger.models.books import PartnerBooks
from ledger.models.journal import Account, JournalEntry, Posting, Settlement
from ledger.models.payouts import Finality, Payout

__all__ = ["Account", "Finality", "JournalEntry", "PartnerBooks", "Payout", "Posting", "Settlement"]
