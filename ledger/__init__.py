"""The double-entry ledger of fees; entries are appended and never edited."""
