"""What a process refuses to start with: secrets that are weak or missing, and development switches for others to reach.

Enters: the settings. Leaves: sentences that name variables and never show a value.
"""
