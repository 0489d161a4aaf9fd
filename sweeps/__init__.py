"""Sweeps: building and signing them, and settling what the chain says became of them."""
