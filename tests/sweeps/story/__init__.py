"""Tests of ``sweeps/story``."""
