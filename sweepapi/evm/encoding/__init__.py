"""Bytes: the ABI, EIP-712, addresses, and the checked decoding of what providers answer.

Enters: hostile JSON and Python values. Leaves: checked values and calldata.
"""
