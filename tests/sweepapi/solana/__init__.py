"""Tests of the Solana library."""
