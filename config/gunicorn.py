"""How gunicorn serves the API: processes with threads, and a pool of database connections as large as the threads."""

import os

bind = os.environ.get("BIND", "0.0.0.0:8000")
workers = int(os.environ.get("WEB_PROCESSES", "2"))
threads = int(os.environ.get("WEB_THREADS", "8"))
worker_class = "gthread"
# Longer than the longest build: three reads of the chain, each within RPC_TIMEOUT_SECONDS.
timeout = 30
keepalive = 15
max_requests = 10_000
max_requests_jitter = 1_000
control_socket_disable = True

# Settings read this when a worker loads the application; only the web process pools connections.
os.environ.setdefault("DATABASE_POOL_SIZE", str(threads))
