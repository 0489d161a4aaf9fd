"""The user's wallet: what kind of account it is, what it holds, and how it can approve.

Enters: a wallet's address. Leaves: holdings, approvals and what its code can sign.
"""
