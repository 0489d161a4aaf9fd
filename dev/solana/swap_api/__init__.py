"""A local swap API with Jupiter's interface, ``GET /build``: a maker fills each quote with real tokens of the cluster.

For a quote, the maker puts the output into a new token account and approves the taker as its SPL delegate, so that the
taker's signature alone runs the whole swap. On a route of two steps it moves the token between them to the maker, too.
"""
