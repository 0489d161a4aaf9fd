"""Sets up the local chain: Permit2, Uniswap, tokens, pools, the batch contracts and funded users."""
