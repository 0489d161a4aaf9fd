"""The worker: finds the sweeps that are due for a look at the chain, and checks them."""
