"""Faults made by hand, each with the test that finds it: a suite that lets one pass would let such a mistake pass."""
