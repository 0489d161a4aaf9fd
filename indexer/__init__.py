"""The worker's side: which sweeps are due for a look at the chain, and when they are due again."""
