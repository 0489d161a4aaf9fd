"""Many sweeps for the benchmarks of worker and database, copied from a real one, and the chain that executed them."""
