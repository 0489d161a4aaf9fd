"""One cluster: its public facts, its providers, and reads of its current state.

Enters: the clusters file and RPC URLs. Leaves: provider pools and checked accounts.
"""
