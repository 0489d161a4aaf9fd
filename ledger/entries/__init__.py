"""Entries of the journal: posted, numbered, recorded and read, and checked for balance.

What was earned or paid enters; entries that are never edited leave. Owns ``JournalEntry``, ``Posting`` and
``EntryNumber`` of ``ledger.models``.
"""
