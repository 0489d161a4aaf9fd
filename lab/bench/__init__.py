"""Benchmarks: what a figure is, which target it has, and one way to run them all.

Each folder but ``sweeps``, which stores many sweeps for the others, is one section that ``make lab-bench`` runs.
"""
