"""The home says what is away, what waits for someone, and what is stopped; the list of sweeps shows the same queues."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from sweeps import queues
from sweeps.heartbeats import CELERY, NAMES, WORKER, Heart
from sweeps.models import BuildStop, RunningProcess, Sweep, SweepTransaction
from sweeps.processes import ProcessReport
from tests.factories.sweeps import SweepFactory
from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db


def sections(browser: ConsoleClient) -> dict[str, dict[str, tuple[str, bool]]]:
    found: dict[str, list[Any]] = browser.get(reverse("admin:index")).context["sections"]
    return {title: {fact.name: (fact.text, fact.is_bad) for fact in facts} for title, facts in found.items()}


def send(sweep: Sweep, *, minutes_ago: int) -> None:
    at = timezone.now() - timedelta(minutes=minutes_ago)
    SweepTransaction.objects.create(
        sweep=sweep, execution=sweep.executions.get(), tx_hash=f"0x{sweep.pk.int:064x}", submitted_at=at
    )


def test_each_queue_has_the_sweeps_that_wait_in_it_and_the_list_shows_them(ops: ConsoleClient) -> None:
    unsent, waiting, stuck, flagged, failing = SweepFactory.create_batch(5)
    send(waiting, minutes_ago=1)
    for sweep in (stuck, flagged, failing):
        send(sweep, minutes_ago=11 if sweep is stuck else 1)
    Sweep.objects.filter(pk=flagged.pk).update(flags=["executed_after_close"])
    Sweep.objects.filter(pk=failing.pk).update(last_error="no provider answered")
    expected = {"stuck": stuck, "flagged": flagged, "failing": failing, "unsent": unsent}
    shown = sections(ops)["Waits for someone"]
    for queue in queues.QUEUES:
        assert shown[queue.title] == ("1", queue.is_bad)
        rows = ops.get(reverse("admin:sweeps_sweep_changelist"), {"queue": queue.name}).context["cl"].result_list
        assert list(rows) == [expected[queue.name]], queue.name


def test_processes_that_are_away_are_marked(ops: ConsoleClient) -> None:
    Heart(WORKER).beat()
    at_work = sections(ops)["At work"]
    assert at_work["Worker"] == ("at work", False)
    assert at_work[CELERY.capitalize()] == ("never seen", True)
    assert {name.capitalize() for name in NAMES} < at_work.keys()


def test_brakes_are_listed_with_their_reason_until_they_are_lifted(ops: ConsoleClient) -> None:
    stop = BuildStop.objects.create(reason="The router is being drained.", stopped_by="ada")
    said = ("The router is being drained. (ada)", True)
    assert sections(ops)["Brakes"] == {"Builds stopped on all networks": said}
    BuildStop.objects.filter(pk=stop.pk).update(lifted_by="ada", lifted_at=timezone.now())
    assert sections(ops)["Brakes"] == {}


def test_the_list_tells_a_stuck_sweep_from_one_that_was_never_sent(ops: ConsoleClient) -> None:
    SweepFactory.create()
    send(SweepFactory.create(), minutes_ago=11)
    page = ops.get(reverse("admin:sweeps_sweep_changelist")).content.decode()
    assert "nothing sent" in page
    assert "sent 11\xa0minutes ago" in page
    assert "at least" in page


def titles(browser: ConsoleClient) -> set[str]:
    groups = browser.get(reverse("admin:sweeps_sweep_changelist")).context["sidebar_navigation"]
    return {item["title"] for group in groups for item in group["items"]}


def test_the_home_shows_the_releases_that_run_and_the_signers_coin(ops: ConsoleClient) -> None:
    ProcessReport("work")()
    RunningProcess.objects.update(notes={"signer_wei": {"eip155:31337": 10**16}})
    RunningProcess.objects.create(name="web on old, 1", kind="web", release="0.1.0", started_at=timezone.now())
    at_work = sections(ops)["At work"]
    assert at_work["Release 0.1.0"] == ("1 web", True)
    assert at_work[f"Release {settings.SPECTACULAR_SETTINGS['VERSION']}"] == ("1 work", True)
    assert at_work["Fee signer on local"] == ("0.0100 coins for gas", True)


def test_the_home_shows_the_worst_of_what_processes_measure_and_what_is_scheduled(ops: ConsoleClient) -> None:
    calls = [["setFee(1, 0x00)", True], ["pause()", False]]
    for number, unbalanced in enumerate((0, 3, 1)):
        notes = {"unbalanced_entries": unbalanced, "unsigned_seconds": 0, "scheduled": {"eip155:31337": calls}}
        RunningProcess.objects.create(
            name=f"work on host, {number}", kind="work", release="2", started_at=timezone.now(), notes=notes
        )
    response = ops.get(reverse("admin:index")).context["sections"]["Invariants"]
    facts = [(fact.name, fact.text, fact.is_bad) for fact in response]
    assert ("Ledger", "3 unbalanced entries", True) in facts
    assert [fact for fact in facts if fact[0] == "Contracts on local"] == [
        ("Contracts on local", "scheduled, and not announced: pause()", True),
        ("Contracts on local", "scheduled, and announced: setFee(1, 0x00)", False),
    ]


def test_the_menu_has_only_what_the_operator_may_see(ops: ConsoleClient) -> None:
    person = User.objects.create_user("sweeps only", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_sweep"))
    browser = ConsoleClient()
    browser.force_login(person)
    assert titles(browser) == {"Home", "Providers", "Runbook", "Sweeps"}
    assert titles(ops) > {"Users", "API keys", "Entries", "Sweeps"}
