"""Deploys the contracts to a chain, and checks that a chain still matches the configuration.

``specification`` says what must be on the chain, ``comparison`` checks its state in one round trip, ``audit`` also
reads its history, and ``runner`` deploys what is missing.
"""
