"""Completes a transaction with what a wallet signed: normalised, verified, simulated, and ready to be sent.

Enters: a stored sweep, and signatures, which are neither stored nor logged. Leaves: a transaction, or why not.
"""
