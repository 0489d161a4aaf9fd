"""Tests of ``sweepapi/solana/landed``."""
