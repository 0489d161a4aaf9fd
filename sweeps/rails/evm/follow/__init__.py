"""What the chain says of a sweep: what is read for it, and the verdict that follows.

Enters: stored sweeps. Leaves: verdicts. Owns no tables.
"""
