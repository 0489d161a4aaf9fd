"""A transaction simulated, and what it would do to a wallet.

Enters: an unsigned transaction. Leaves: changes of accounts, compared with the terms.
"""
