"""The worker: finds the sweeps that are due for a check the chain, and checks them."""
