"""The transactions of the fee accounts beside what was offered.

Enters: finalized transactions. Leaves: sweeps to settle. Owns the table of how far each account was read.
"""
