"""PostgreSQL, Redis and anvil as child processes: how each is started, known to be ready, and reached."""
