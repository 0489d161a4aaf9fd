"""Transactions in blocks: searched by reference, read, tracked to finality, and compared between providers.

Enters: reference keys, signatures, accounts. Leaves: landed transactions that enough providers agree on.
"""
