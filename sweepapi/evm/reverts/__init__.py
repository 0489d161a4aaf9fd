"""Finds out why a transaction reverted, and explains it."""
