"""Tokens of both programs: their mints, their names, and what extensions make of a transfer.

Enters: accounts of a cluster. Leaves: mints and token facts.
"""
