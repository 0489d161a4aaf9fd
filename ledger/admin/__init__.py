"""Shows the ledger to operators, who record and reverse payouts here, and write nothing else."""

from ledger.admin.books import PartnerBooksAdmin
from ledger.admin.journal import AccountAdmin, JournalEntryAdmin
from ledger.admin.payouts import PayoutAdmin

__all__ = ["AccountAdmin", "JournalEntryAdmin", "PartnerBooksAdmin", "PayoutAdmin"]
