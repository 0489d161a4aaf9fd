"""Factories of rows for tests."""
