"""Kinds of pools and routers: which exist, what they would pay, what a swap in them costs and looks like.

Enters: pairs of tokens and venues of the chains file. Leaves: quotes, prices, encoded swaps.
"""
