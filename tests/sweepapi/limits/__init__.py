"""Tests of ``sweepapi/limits``."""
