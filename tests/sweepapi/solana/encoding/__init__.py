"""Tests of ``sweepapi/solana/encoding``."""
