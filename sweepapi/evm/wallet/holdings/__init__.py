"""Finds the tokens that a wallet may hold: sources name addresses, and the chain alone says which of them are held.

Enters: a wallet, and the sources of its chain. Leaves: ``Holdings``, what was searched, and where the next page begins.
"""
