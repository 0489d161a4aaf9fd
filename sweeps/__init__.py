"""Builds and signs sweeps, follows them on chain, and records the outcome."""
