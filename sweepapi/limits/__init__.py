"""Bounds on what others can cost us: bodies, nesting, threads and requests.

Enters: responses, JSON and requests. Leaves: the same within bounds, or an error.
"""
