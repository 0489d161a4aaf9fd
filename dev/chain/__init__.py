"""What stands on the local chain before anybody sweeps: Permit2, Uniswap, tokens, pools, the batch contract, users."""
