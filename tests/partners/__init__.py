"""Tests of partners and keys."""
