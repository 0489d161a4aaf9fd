"""Tests of ``sweepapi/solana/trial``."""
