"""Management commands of the sweeps."""
