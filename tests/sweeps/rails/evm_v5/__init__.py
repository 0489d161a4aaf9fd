"""Tests of the V5 rail."""
