"""Solana in plain Python: keys, accounts, transactions, the swap API; knows neither sweeps nor Django."""
