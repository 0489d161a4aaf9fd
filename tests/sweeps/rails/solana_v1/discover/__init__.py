"""Tests of ``sweeps/rails/solana_v1/discover``."""
