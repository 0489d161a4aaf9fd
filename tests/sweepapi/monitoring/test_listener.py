"""The health of a process is served on its port; one on which nothing can be served is refused at the start."""

import time

import pytest
import requests

from dev.ports import free_port
from sweepapi.monitoring import listener, metrics, readiness


@pytest.mark.parametrize("bind", ["8001", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:-1"])
def test_a_malformed_place_is_named_in_the_error(bind: str) -> None:
    with pytest.raises(ValueError, match=f"HEALTH_BIND is '{bind}'; it must be host:port."):
        listener.start(bind)


def test_a_single_process_answers_from_its_memory() -> None:
    bind = f"127.0.0.1:{free_port()}"
    listener.start_alone(bind)
    assert requests.get(f"http://{bind}/healthz", timeout=5).json() == {"status": "alive"}
    assert requests.get(f"http://{bind}/readyz", timeout=5).status_code == 503
    for check in readiness.CHECKS:
        metrics.CHECKS.labels(check).set(time.time())
    ready = requests.get(f"http://{bind}/readyz", timeout=5)
    metrics.CHECKS.clear()
    assert ready.status_code == 200
    assert dict.fromkeys(readiness.CHECKS, "passed").items() <= ready.json()["checks"].items()
    assert "sweepapi_webhook_attempts_total" in requests.get(f"http://{bind}/metrics", timeout=5).text
