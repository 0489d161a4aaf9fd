"""Tests of ``sweeps/models``."""
