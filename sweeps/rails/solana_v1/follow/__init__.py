"""What the cluster says of a sweep: what is read for it, and the verdict that follows. Owns no tables.

Enters: stored sweeps. Leaves: verdicts.
"""
