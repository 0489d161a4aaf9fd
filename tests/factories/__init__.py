"""Makers of rows for tests."""
