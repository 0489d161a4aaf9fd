"""Secrets and proofs: encryption at rest, signatures over canonical JSON, Merkle trees. Owns no tables.

Enters: bytes and records. Leaves: ciphertexts, signatures, roots and inclusion proofs.
"""
