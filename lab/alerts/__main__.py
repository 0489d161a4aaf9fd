"""``python -m lab.alerts``: makes each trouble, waits for its alert and its end, then watches quiet traffic.

Prints a table and writes ``var/bench/alerts.json``; exits with 1 if a target is missed. ``--only TEXT`` makes the
troubles whose names contain one of these, ``--quiet-minutes`` says how long the traffic lasts.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from dev.processes.errors import LocalWorldError, WaitTimeoutError
from dev.processes.fleet import Fleet
from dev.processes.supervisor import Interrupted, say
from dev.processes.waiting import wait_until
from dev.world import VAR
from lab.alerts import dashboard, quiet, scene
from lab.alerts.receiver import HEARTBEAT, PAGE
from lab.alerts.scene import AlertScene
from lab.alerts.troubles import Trouble, troubles
from lab.bench.report import Section, Target, conclude, print_table

FOLDER = VAR / "alerts"
MOST_FIRING_SECONDS, MOST_RESOLVING_SECONDS = 60.0, 120.0
PATIENCE_SECONDS = 240  # after which it is missed
SETTLING_SECONDS = 15  # in which a second message would come
CROSSING_SECONDS = 90


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.alerts")
    parser.add_argument("--only", nargs="+", default=[""], help="make the troubles whose names contain one of these")
    parser.add_argument("--quiet-minutes", type=float, default=30, help="how long nothing may fire")
    given = parser.parse_args(arguments)
    try:
        with Fleet(FOLDER) as fleet:
            say("starting the service, Prometheus and Alertmanager")
            return run(scene.start(fleet), given.only, given.quiet_minutes)
    except LocalWorldError as error:
        say(f"stopped: {error}")
        return 1
    except Interrupted as signal_name:
        say(f"stopped by {signal_name}")
        return 130


def run(of: AlertScene, only: Sequence[str], quiet_minutes: float) -> int:
    """Measure all, and conclude."""
    quiet.sweep(of)  # so that every figure has something to show
    _patiently(lambda: not of.firing() and bool(of.query("sweepapi_figure_timestamp_seconds")), what="a quiet start")
    rows = []
    for trouble in troubles(of):
        if any(text in trouble.name for text in only):
            rows.append(_measure(of, trouble))
            say(str(rows[-1]))
    during = quiet.watch(of, minutes=quiet_minutes)
    silent = dashboard.without_samples(of)
    for found in (*silent, *during):
        say(f"quiet: {found}")
    beats = len(of.receiver.since(0, HEARTBEAT))
    targets = [
        Target(
            "seconds from a trouble, or from its metric's threshold, to its alert",
            _worst(rows, "fired after, s"),
            MOST_FIRING_SECONDS,
        ),
        Target("seconds from its end to the alert's", _worst(rows, "resolved after, s"), MOST_RESOLVING_SECONDS),
        Target(
            "troubles with more than one message, or with one too few", sum(row["messages"] != 1 for row in rows), 0
        ),
        Target("pages beside the one that was due", sum(row["other pages"] for row in rows), 0),
        Target("pages while one partner's endpoint and one of two providers fail", len(during), 0),
        Target("queries of the dashboard without samples", len(silent), 0),
        Target("calls of the heartbeat", beats, 1, at_least=True),
    ]
    section = Section("Alerts", rows, targets)
    print_table(section)
    return conclude([section], "alerts")


def _measure(of: AlertScene, trouble: Trouble) -> dict[str, Any]:
    """Make one trouble; returns what came of it, and when."""
    began = time.monotonic()
    trouble.begin(of)
    crossed = began if trouble.metric is None else _crossed(of, trouble.metric)
    fired = _arrival(of, trouble, began, is_firing=True)
    time.sleep(SETTLING_SECONDS)
    ended = time.monotonic()
    trouble.end(of)
    resolved = _arrival(of, trouble, ended, is_firing=False)
    with suppress(WaitTimeoutError):
        wait_until(lambda: not of.firing(), within_seconds=PATIENCE_SECONDS, what="the end of all alerts")
    time.sleep(SETTLING_SECONDS)
    messages = [one for one in of.receiver.since(began) if one.is_firing]
    return {
        "trouble": trouble.name,
        "alert": trouble.alert,
        "route": trouble.route,
        "messages": sum((one.alert, one.route) == (trouble.alert, trouble.route) for one in messages),
        "fired after, s": _since(crossed, fired),
        "resolved after, s": _since(ended, resolved),
        "other pages": sum(one.route == PAGE and one.alert != trouble.alert for one in messages),
        "beside it": ", ".join(sorted({one.alert for one in messages} - {trouble.alert})),
    }


def _crossed(of: AlertScene, metric: str) -> float:
    """Return when the metric crossed its threshold, as Prometheus sees it."""
    wait_until(lambda: bool(of.query(metric)), within_seconds=CROSSING_SECONDS, what=metric)
    return time.monotonic()


def _arrival(of: AlertScene, trouble: Trouble, since: float, *, is_firing: bool) -> float | None:
    """Return when the alert's message came, None if it did not."""

    def found() -> list[float]:
        messages = of.receiver.since(since, trouble.route)
        return [one.at for one in messages if (one.alert, one.is_firing) == (trouble.alert, is_firing)]

    with suppress(WaitTimeoutError):
        wait_until(lambda: bool(found()), within_seconds=PATIENCE_SECONDS, what=trouble.alert)
    return next(iter(found()), None)


def _since(start: float, moment: float | None) -> float:
    return float(PATIENCE_SECONDS) if moment is None else round(max(moment - start, 0.0), 1)


def _worst(rows: Sequence[dict[str, Any]], column: str) -> float:
    return max((float(row[column]) for row in rows), default=0.0)


def _patiently(condition: Callable[[], bool], *, what: str) -> None:
    wait_until(condition, within_seconds=PATIENCE_SECONDS, what=what)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
