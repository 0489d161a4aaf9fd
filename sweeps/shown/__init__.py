"""Stored sweeps as their partner sees them: status, listing and timeline. Owns no tables.

Enters: what one statement read. Leaves: JSON as the serializers describe it.
"""
