"""PostgreSQL, Redis and anvil as child processes: how each starts, when it is ready, and how to connect to it."""
