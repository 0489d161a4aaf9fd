"""Stored sweeps as their status and the answers to confirms show them, without models and serializers.

One statement reads a sweep, and plain functions arrange what it returns. The serializers describe the same objects for
the documentation, and a test holds both equal, byte for byte.
"""
