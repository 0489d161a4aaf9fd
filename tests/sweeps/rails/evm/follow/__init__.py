"""Tests of ``sweeps/rails/evm/follow``."""
