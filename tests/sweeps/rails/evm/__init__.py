"""Tests of the code that EVM rails share."""
