"""Tests of what the rails on EVM chains share."""
