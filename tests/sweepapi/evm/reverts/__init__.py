"""Tests of explaining reverted transactions."""
