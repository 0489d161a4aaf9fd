"""Tests of what the EVM rails share."""
