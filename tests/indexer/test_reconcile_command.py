"""Operators compare the books with the chain from the command line, and have lost sweeps adopted."""

import json
from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from indexer import reconciliation
from partners.models import Partner
from sweeps.models import Sweep
from sweeps.story.settle import SettlementOutcome
from tests.indexer.reconciled import NETWORK
from tests.local_chain import FINAL_AFTER
from tests.lost_commits import lost_commits
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db


@pytest.fixture
def lost_hash(app: PartnerApp) -> str:
    """The transaction of a V5 sweep that was forgotten."""
    with lost_commits():
        _, tx_hash = app.complete()
    app.chain.mine(FINAL_AFTER)
    return tx_hash


def reconcile(*arguments: str) -> tuple[int, str, str]:
    """Run the command; return its exit status and what it printed on both streams."""
    out, err = StringIO(), StringIO()
    try:
        call_command("reconcile", *arguments, stdout=out, stderr=err)
    except SystemExit as exit_:
        return int(str(exit_.code)), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_books_without_differences_are_a_line_and_status_zero(app: PartnerApp) -> None:
    app.complete()
    app.chain.mine(FINAL_AFTER)
    status, out, _ = reconcile("local")
    assert status == 0
    assert out.startswith("1 event in blocks 0 to ")
    assert out.endswith(": no differences.\n")


def test_each_difference_is_a_paragraph_and_the_status_is_one(lost_hash: str) -> None:
    status, out, _ = reconcile(NETWORK)
    assert status == 1
    assert out.startswith("event_without_sweep: SweepExecutedV5: No execution of ours has this identity.\n")
    assert f"\n  tx hash {lost_hash}\n" in out
    assert out.endswith(": 1 difference.\n")


def test_the_report_as_json_has_the_same_facts(lost_hash: str) -> None:
    status, out, _ = reconcile("local", "--json")
    report = json.loads(out)
    assert (status, report["network"], report["events"]) == (1, NETWORK, 1)
    assert [(one["problem"], one["tx_hash"]) for one in report["differences"]] == [("event_without_sweep", lost_hash)]


def test_a_repair_says_what_it_adopted_and_what_is_left(lost_hash: str) -> None:
    status, out, err = reconcile("local", "--repair", "--by", "Ada")
    assert (status, out.partition(": ")[2]) == (0, "no differences.\n")
    assert err == f"{lost_hash} adopted as sweep {Sweep.objects.get().id}\n"


def test_a_range_is_compared_and_repaired_alone(lost_hash: str, app: PartnerApp) -> None:
    above = str(app.chain.receipt(lost_hash)["blockNumber"] + 1)
    assert reconcile("local", "--from-block", above)[0] == 0
    assert reconcile("local", "--from-block", above, "--repair", "--by", "Ada")[0] == 0
    assert not Sweep.objects.exists()


def test_operators_name_the_partner_of_a_v4_transaction(app: PartnerApp, use_mode: Any, partner: Partner) -> None:
    use_mode("v4_fallback")
    with lost_commits():
        state, tx_hash = app.complete()
    app.chain.mine(FINAL_AFTER)
    status, _, err = reconcile("local", "--repair", "--by", "Ada")
    assert status == 1
    assert err == f"{tx_hash} not adopted: Its event names no partner: name one for this transaction.\n"
    status, _, err = reconcile("local", "--repair", "--by", "Ada", "--partner", partner.name, "--tx", tx_hash)
    assert (status, err) == (0, f"{tx_hash} adopted as sweep {state['sweepId']}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["elsewhere"], "No network that has providers"),
        (["local", "--repair"], "--repair needs --by"),
        (["local", "--by", "Ada"], "are for --repair"),
        (["local", "--partner", "Shop"], "are for --repair"),
        (["local", "--repair", "--by", "Ada", "--partner", "Shop"], "belong together"),
        (["local", "--repair", "--by", "Ada", "--tx", f"0x{'0' * 64}"], "belong together"),
        (
            ["local", "--repair", "--by", "Ada", "--partner", "Shop", "--tx", f"0x{'0' * 64}"],
            "No partner with the name",
        ),
        (["local", "--from-block", "-1"], "must be the number of a block"),
        (["local", "--to-block", "9" * 19], "must be the number of a block"),
        (["local", "--repair", "--by", "Ada", "--partner", "Shop", "--tx", "0x0"], "must be the hash"),
    ],
)
def test_arguments_that_say_nothing_clear_are_refused(arguments: Sequence[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        reconcile(*arguments)


@pytest.mark.usefixtures("executed")
def test_a_sweep_that_cannot_be_settled_is_a_failure_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciliation, "settle_found", lambda _found: SettlementOutcome(errors=[RuntimeError()]))
    with pytest.raises(CommandError, match="settling_failed") as failed:
        reconcile("local", "--repair", "--by", "Ada")
    assert failed.value.returncode == 2


@pytest.mark.usefixtures("no_providers")
def test_without_a_provider_the_status_is_two() -> None:
    with pytest.raises(CommandError, match="The chain could not be read") as failed:
        reconcile("local")
    assert failed.value.returncode == 2
