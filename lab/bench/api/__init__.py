"""Benchmarks of the API under gunicorn, beside a bare view of the same server: ``make bench-api``."""
