"""The ledger's tables."""

from ledger.models.books import PartnerBooks
from ledger.models.journal import Account, Asset, JournalEntry, Posting, Settlement
from ledger.models.numbers import EntryNumber
from ledger.models.payouts import Finality, Payout
from ledger.models.proofs import Checkpoint, StatementEra, SubtreeHash

__all__ = [
    "Account",
    "Asset",
    "Checkpoint",
    "EntryNumber",
    "Finality",
    "JournalEntry",
    "PartnerBooks",
    "Payout",
    "Posting",
    "Settlement",
    "StatementEra",
    "SubtreeHash",
]
