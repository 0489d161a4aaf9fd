"""Tests of partners and API keys."""
