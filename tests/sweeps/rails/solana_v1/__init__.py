"""Sweeps on Solana."""
