"""A local Solana cluster that forks and ages on demand: JSON-RPC over LiteSVM, which itself keeps no history.

It has the methods that the service calls; every other client uses surfpool.
"""
