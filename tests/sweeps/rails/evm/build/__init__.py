"""Tests of ``sweeps/rails/evm/build``."""
