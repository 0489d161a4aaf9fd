"""Tests of ``sweepapi/evm/tokens``."""
