"""Tests of what a sweep on Solana is worth, and how that is said."""
