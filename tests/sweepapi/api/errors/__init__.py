"""Tests of ``sweepapi/api/errors``."""
