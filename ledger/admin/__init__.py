"""Shows the ledger to operators, who record and reverse payouts here, and write nothing else."""

from ledger.admin.books import PartnerBooksAdmin
from ledger.admin.journal import AccountAdmin, JournalEntryAdmin
from ledger.admin.payouts import PayoutAdmin
from ledger.admin.proofs import CheckpointAdmin, StatementEraAdmin

__all__ = [
    "AccountAdmin",
    "CheckpointAdmin",
    "JournalEntryAdmin",
    "PartnerBooksAdmin",
    "PayoutAdmin",
    "StatementEraAdmin",
]
