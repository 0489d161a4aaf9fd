"""Sweeps on Solana at the swap API's free plan."""
