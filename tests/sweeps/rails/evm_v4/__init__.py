"""Tests of the V4 rail."""
