"""Every event of our contracts beside what was offered: followed, reconciled, compared, adopted.

Enters: logs of final and newer blocks. Leaves: sweeps to settle, and events that match nothing. Owns their tables.
"""
