"""Tests of the places where the fee signer's key may be."""
