"""Tests of ``sweepapi/evm/contracts``."""
