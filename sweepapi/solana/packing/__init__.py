"""Transactions to sign: legs, guards, closings and fees packed into as few as fit.

Enters: instructions of legs. Leaves: unsigned v0 transactions.
"""
