"""Tests of how the processes start."""
