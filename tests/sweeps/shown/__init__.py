"""Tests of ``sweeps/shown``."""
