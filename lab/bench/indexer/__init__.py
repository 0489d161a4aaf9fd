"""Benchmarks of the worker against a chain of its own: ``make bench-indexer``."""
