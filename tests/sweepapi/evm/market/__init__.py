"""Tests of ``sweepapi/evm/market``."""
