"""Tests of ``sweepapi/solana/tokens``."""
