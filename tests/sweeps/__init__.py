"""Tests of building, confirming and settling sweeps."""
