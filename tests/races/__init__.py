"""Rivals that run at exact points of an operation: whatever the point, the result is that of one after the other."""
