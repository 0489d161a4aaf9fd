"""Finding, quoting and encoding the swaps of a sweep.

A *kind* of router is a module with the functions of ``uniswap_v2``; only ``routes.finder`` names all kinds.
"""
