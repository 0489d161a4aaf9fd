"""Which token accounts of a wallet can be swept or closed. Owns no tables.

Enters: a wallet. Leaves: found accounts and totals.
"""
