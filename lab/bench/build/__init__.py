"""Benchmarks of builds against the local chain: ``make bench-build``."""
