"""Tests of ``sweepapi/evm/encoding``."""
