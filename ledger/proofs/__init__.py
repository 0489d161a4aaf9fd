"""Proves to partners that their ledger is complete and never rewritten: one Merkle tree per partner and mode.

The leaves are the records of the entries in the order of their numbers (``ledger.entries.records``). When a month is
over, the state of the tree is signed, once, as a checkpoint.
"""
