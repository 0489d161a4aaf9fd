"""What a sweep costs its user in lamports, and what it leaves in the output and in the reference stablecoin.

Enters: quotes, what SOL was quoted at, fees and rents. Leaves: economics of tokens and sweeps. Does no I/O.
"""
