"""The admin's shared parts: read-only pages, links to explorers, the page of providers. Owns no tables.

Enters: rows and networks. Leaves: pages and columns that the apps' own admin classes inherit.
"""
