"""A group is ready while the database and its migrations are; anything else that fails only degrades it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import values

from sweepapi.monitoring import readiness

NETWORK = "eip155:8453"
Set = Callable[..., None]


@pytest.fixture
def set_gauge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Set:
    """Set a gauge as a process of the group does: how many seconds ago something happened."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    value_class = values.MultiProcessValue(lambda: "0")  # type: ignore[no-untyped-call]

    def set_gauge(name: str, seconds_ago: float, **labels: str) -> None:
        described = (name, name, list(labels), list(labels.values()), "A gauge.")
        value_class("gauge", *described, multiprocess_mode="max").set(time.time() - seconds_ago)

    return set_gauge


@pytest.fixture
def all_passed(set_gauge: Set) -> None:
    for check in readiness.CHECKS:
        set_gauge(readiness.CHECK, 0, check=check)


@pytest.mark.usefixtures("all_passed")
def test_a_group_whose_checks_all_passed_is_ready(tmp_path: Path) -> None:
    assert readiness.read(tmp_path).status == "ready"


def test_a_group_that_reported_nothing_is_unavailable(tmp_path: Path) -> None:
    assert readiness.read(tmp_path).status == "unavailable"


@pytest.mark.usefixtures("all_passed")
@pytest.mark.parametrize("check", readiness.CHECKS)
def test_only_the_database_and_its_migrations_make_a_group_unavailable(
    tmp_path: Path, set_gauge: Set, check: str
) -> None:
    set_gauge(readiness.CHECK, readiness.FRESH_SECONDS + 1, check=check)  # its last pass: since then it hangs
    found = readiness.read(tmp_path)
    assert [name for name, passed in found.checks.items() if not passed] == [check]
    assert (found.status, found.is_ready) == (
        ("unavailable", False) if check in ("database", "migrations") else ("degraded", True)
    )


@pytest.mark.usefixtures("all_passed")
def test_a_network_fails_only_if_each_of_its_providers_failed_last(tmp_path: Path, set_gauge: Set) -> None:
    name = f"providers of {NETWORK}"
    set_gauge(readiness.ANSWERED, 5, network=NETWORK, provider="0")
    set_gauge(readiness.FAILED, 2, network=NETWORK, provider="0")
    assert readiness.read(tmp_path).checks[name] is False
    set_gauge(readiness.ANSWERED, 900, network=NETWORK, provider="1")
    assert readiness.read(tmp_path).checks[name] is True
    set_gauge(readiness.FAILED, 1, network=NETWORK, provider="1")
    found = readiness.read(tmp_path)
    assert (found.checks[name], found.status) == (False, "degraded")
