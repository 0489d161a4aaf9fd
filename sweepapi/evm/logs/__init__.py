"""Logs and receipts: polled, scanned, searched and compared between providers.

Enters: contracts, topics, hashes, spans of blocks. Leaves: logs and sightings that enough providers agree on.
"""
