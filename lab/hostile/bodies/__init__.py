"""Bodies that are refused: what that costs of the CPU, for one request and for a key that sends nothing else."""
