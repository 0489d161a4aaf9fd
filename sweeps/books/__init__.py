"""The books beside the chain: their differences, what is booked of a sweep, and lost sweeps that are adopted.

Enters: what auditors of a network found. Leaves: reports and adopted sweeps. Owns the table of comparisons.
"""
