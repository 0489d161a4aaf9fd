"""The store of sweeps: reads each whole by one statement, and alone writes them, in sets.

Enters: ids, and a ``StoredSweep`` whose instances rules changed. Leaves: sweeps as read, and rows with exactly what
differs from that. Statements fetch and store rows and decide nothing. Owns the tables of sweeps, executions,
candidates, tokens, events and watched blocks.
"""
