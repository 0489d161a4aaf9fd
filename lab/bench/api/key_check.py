"""How much CPU the check of an API key takes in the process that serves a request."""

import time
from statistics import median

from django.test import RequestFactory
from rest_framework.request import Request

from lab.bench.api.scene import Scene
from lab.bench.report import Section, Target
from partners.authentication import ApiKeyAuthentication

WARM_UP, ROUNDS, CHECKS = 100, 9, 200
MOST_CPU_MS = 0.15


def measure(scene: Scene) -> Section:
    """Check one key again and again; its last use is recorded once a minute."""
    key = str(scene.service.client.defaults["HTTP_X_API_KEY"])
    request = Request(RequestFactory(headers={"x-api-key": key}).get("/v2/partner"))
    _cpu_ms(request, WARM_UP)
    used = [_cpu_ms(request, CHECKS) for _ in range(ROUNDS)]
    row = {"checks": ROUNDS * CHECKS, "CPU ms, median": round(median(used), 3), "least": round(min(used), 3)}
    return Section("Check of an API key", [row], [Target("CPU ms of a key check", median(used), MOST_CPU_MS)])


def _cpu_ms(request: Request, checks: int) -> float:
    started = time.process_time()
    for _ in range(checks):
        ApiKeyAuthentication().authenticate(request)
    return 1_000 * (time.process_time() - started) / checks
