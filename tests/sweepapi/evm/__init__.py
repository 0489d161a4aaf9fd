"""Tests of the chain library."""
