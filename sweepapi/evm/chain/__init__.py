"""One chain: its public facts, its providers, batched calls, fees, and transactions of our own accounts.

Enters: the chains file and RPC URLs. Leaves: ``Chain``, provider pools, decoded reads.
"""
