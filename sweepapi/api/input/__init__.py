"""Requests as data: strict JSON, fields, filters and cursors, with a code for everything refused.

Enters: bytes and query strings. Leaves: validated values.
"""
