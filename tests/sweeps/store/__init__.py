"""Tests of ``sweeps/store``."""
