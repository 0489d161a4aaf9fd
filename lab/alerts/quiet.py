"""Traffic that may wake no one: sweeps, restarts one by one, one endpoint of a partner and one provider away."""

import time
from contextlib import suppress
from itertools import count

from dev.ports import free_port
from lab.alerts.receiver import PAGE
from lab.alerts.scene import AlertScene
from sweepapi_client import NoAnswerError, SweepApiError

PAUSE_SECONDS = 5
ROLLING = ("web", "web-fallback", "work", "webhooks", "signing", "celery", "beat", "console")
UP_SECONDS = 20  # after which the next process is restarted


def sweep(of: AlertScene) -> None:
    """Build, execute and report one sweep."""
    wallet = of.context.wallets[1]
    built = of.context.build(wallet, "WETH", USDC=20)
    of.context.ours.confirm(built["sweepId"], {"txHash": of.context.sign_and_send(wallet, built)})


def watch(of: AlertScene, *, minutes: float) -> list[str]:
    """Sweep for so long; returns the pages that came meanwhile.

    Each process that is restarted has a second provider from then on, which is away.
    """
    of.context.ours.webhooks.create({"url": f"http://127.0.0.1:{free_port()}/"})
    began, restarts = time.monotonic(), count()
    two_providers = {f"RPC_URLS_{of.context.chain.upper()}": f"{of.local.rpc_url},http://127.0.0.1:{free_port()}"}
    restart_at = began + UP_SECONDS
    while time.monotonic() < began + 60 * minutes:
        with suppress(SweepApiError, NoAnswerError):  # web is being restarted
            of.context.ours.status()  # as the probe asks
            sweep(of)
        if time.monotonic() > restart_at:
            name = ROLLING[next(restarts) % len(ROLLING)]
            of.fleet.kill(name)
            of.fleet.relaunch(name, two_providers)
            restart_at = time.monotonic() + UP_SECONDS
        time.sleep(PAUSE_SECONDS)
    return [f"{one.alert}: {one.summary}" for one in of.receiver.since(began, PAGE) if one.is_firing]
