"""Tests of ``sweepapi/solana/swap_api``."""
