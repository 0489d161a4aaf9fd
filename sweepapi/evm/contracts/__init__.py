"""The contracts that sweeps call: V4, V5 and Permit2; what is signed for them, sent to them, read from them.

Enters: terms and routes. Leaves: typed data, calldata, decoded events.
"""
