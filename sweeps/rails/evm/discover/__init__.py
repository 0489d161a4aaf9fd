"""Which tokens of a wallet are worth sweeping, each verdict proven by a simulated sale. Owns no tables.

Enters: a wallet. Leaves: found tokens, their verdicts, and the best basket.
"""
