"""Tests of ``sweepapi/evm/chain/fee_models``."""
