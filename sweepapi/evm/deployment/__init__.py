"""Deploying the contracts to a chain, and checking that a chain still matches the configuration.

``specification`` says what must be deployed, ``comparison`` compares a chain with it in one round trip, ``audit`` also
reads the chain's history, and ``deploying`` creates what is missing.
"""
