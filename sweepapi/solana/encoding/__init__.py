"""Bytes: keys, accounts, Token-2022's extensions, and the checked decoding of what providers answer.

Enters: hostile JSON. Leaves: checked values.
"""
