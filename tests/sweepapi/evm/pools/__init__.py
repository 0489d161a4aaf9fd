"""Tests of ``sweepapi/evm/pools``."""
