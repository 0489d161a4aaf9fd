"""The lines that an alert waits for are counted, from zero on, and no others are."""

import structlog
from prometheus_client import REGISTRY

from sweepapi.monitoring.lines import COUNTED, count


def value(event: str) -> float | None:
    return REGISTRY.get_sample_value("sweepapi_log_lines_total", {"event": event})


def test_every_counter_is_there_before_its_first_line() -> None:
    assert [event for event in COUNTED if value(event) is None] == []


def test_a_line_is_counted_and_passes_as_it_is() -> None:
    before = value("work_stalled") or 0
    line = {"event": "work_stalled", "jobs": ["sweeps"]}
    assert count(None, "critical", line) == line
    assert value("work_stalled") == before + 1


def test_another_line_is_not_counted() -> None:
    count(None, "info", {"event": "request"})
    assert value("request") is None


def test_every_log_of_the_service_passes_the_counter() -> None:
    assert count in structlog.get_config()["processors"]
