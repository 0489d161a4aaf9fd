"""Tests of ``sweepapi/evm/logs``."""
