"""Tests of ``sweepapi/api/requests``."""
