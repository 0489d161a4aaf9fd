"""Benchmarks of the database with millions of sweeps: ``make bench-scale``."""
