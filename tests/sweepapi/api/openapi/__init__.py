"""Tests of ``sweepapi/api/openapi``."""
