"""Tests of ``sweepapi/crypto``."""
