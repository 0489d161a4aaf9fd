"""The store of sweeps: reads each whole by one statement, and alone writes them, in sets.

``reading`` makes a ``StoredSweep`` of a sweep with all that belongs to it. Rules change its model instances in memory,
and ``writing`` stores exactly what differs from what was read. Statements fetch and store rows and decide nothing.
"""
