"""The admin's shared parts: the people who use it, read-only pages, links to explorers. Owns no tables.

Enters: rows and networks. Leaves: pages and columns that the apps' own admin classes inherit.
"""

from sweepapi.admin.people import GroupAdmin, UserAdmin

__all__ = ["GroupAdmin", "UserAdmin"]
