"""The worker: finds the sweeps that are due for a check, and checks them on the chain."""
