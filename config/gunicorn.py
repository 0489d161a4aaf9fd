"""How gunicorn serves the API: processes with threads, each of which keeps one database connection."""

import gc
import os
from ipaddress import ip_address
from itertools import count

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from sweepapi.monitoring import listener, sharing
from sweepapi.startup import exposure

bind = os.environ.get("BIND", "0.0.0.0:8000")
workers = int(os.environ.get("WEB_PROCESSES", "2"))
threads = int(os.environ.get("WEB_THREADS", "16"))
worker_class = "config.web_worker.WebWorker"
# For how long a process may stop taking connections. A request may last longer in its thread: a build reads the chain
# five times, each within RPC_TIMEOUT_SECONDS, and may wait for a signer.
timeout = 30
keepalive = 15
# A new process takes seconds to start, in which the others serve all requests. So processes are replaced seldom: at 200
# requests a second, 10,000 are served within a minute.
max_requests = 100_000
max_requests_jitter = 20_000
control_socket_disable = True
# Of a peer's headers none says where the application is mounted, or how the request came: Django decides the latter, by
# TRUSTED_PROXIES. By default gunicorn believes peers on this machine.
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}

# The settings read these when a process loads the application.
os.environ.setdefault("DATABASE_CONNECTION_MAX_AGE_SECONDS", "600")
# Requests read and write a few rows. While the database is away they are answered 503, within two seconds.
os.environ.setdefault("DATABASE_DEADLINE_SECONDS", "1")


def on_starting(_server: Arbiter) -> None:
    """Serve the health of all web processes from the process above them."""
    health_bind = os.environ.get("HEALTH_BIND", "")
    if health_bind:
        listener.start(health_bind)


def when_ready(server: Arbiter) -> None:
    """Require a proxy where others than this host reach us: slow callers and large bodies are for it to deal with."""
    names = [listener.sock.getsockname() for listener in server.LISTENERS]
    public = [name[0] for name in names if not isinstance(name, str) and not ip_address(name[0]).is_loopback]
    if public and not os.environ.get("TRUSTED_PROXIES"):
        raise RuntimeError(f"web listens on {public[0]}: TRUSTED_PROXIES must name the proxies in front of it.")


def pre_fork(server: Arbiter, worker: Worker) -> None:
    """Give the new process the lowest number that none of the others has."""
    taken = {other.slot for other in server.WORKERS.values()}
    worker.slot = next(slot for slot in count() if slot not in taken)


def post_fork(_server: Arbiter, worker: Worker) -> None:
    """Count under that number."""
    sharing.use_slot(worker.slot)


def post_worker_init(worker: Worker) -> None:
    """Refuse development switches where others reach us, and have garbage collection skip what the start loaded.

    To search it took 0.2 s, in which all threads waited.
    """
    exposure.refuse_public_bind(worker.cfg.address)
    gc.collect()
    gc.freeze()
