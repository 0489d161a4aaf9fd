"""Tests of ``sweepapi/solana/packing``."""
