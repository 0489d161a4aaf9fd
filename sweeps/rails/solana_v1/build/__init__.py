"""A build on Solana: from a request to unsigned transactions that lose no more than was swept.

Enters: a request, the wallet's accounts, quotes of the swap API. Leaves: a planned sweep, an offer. Owns no tables.
"""
