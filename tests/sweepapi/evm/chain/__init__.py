"""Tests of ``sweepapi/evm/chain``."""
