"""The chaos suite: sweeps against the real engines while a seed's faults happen, and books compared with the chain."""
