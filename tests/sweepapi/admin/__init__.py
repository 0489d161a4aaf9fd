"""Tests of ``sweepapi/admin``."""
