"""Tests of ``sweepapi/evm/wallet``."""
