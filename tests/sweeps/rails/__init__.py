"""Tests of the rails."""
