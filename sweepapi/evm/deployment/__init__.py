"""Deploying the contracts to a chain, and telling whether a chain still has what the configuration says.

``specification`` says what must be there, ``comparison`` asks a chain for it in one round trip, ``audit`` reads its
past, too, and ``deploying`` makes what is missing.
"""
