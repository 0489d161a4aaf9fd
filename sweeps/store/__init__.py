"""Sweeps as rows: locked, changed as instances, and written in sets, with the event that each change leaves.

Enters: a sweep and what became of it. Leaves: rows. Owns the tables of sweeps, executions, candidates, events, blocks.
"""
