"""Finding, pricing and encoding the swaps of a sweep.

A *kind* of router is a module with the functions of ``uniswap_v2``; the table in ``routes.finder`` is the only place
that names all kinds.
"""
