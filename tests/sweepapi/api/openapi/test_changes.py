"""Changes of the API are found and recorded, and what breaks clients is told apart from what does not."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from sweepapi.api.openapi.changes import changes
from sweepapi.api.openapi.surface import surface
from sweepapi.management.commands import api_doc
from tests import openapi

BUILD = "POST /v2/sweep/build"
Edit = Callable[[dict[str, Any]], object]
TEXT = {"type": "string"}


def without(node: dict[str, Any], *path: str) -> None:
    for step in path[:-1]:
        node = node[step]
    del node[path[-1]]


def fields(found: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the fields of a type."""
    properties: dict[str, Any] = found["types"][name]["properties"]
    return properties


HARMLESS: list[tuple[str, Edit]] = [
    ("`POST /v2/new` is new.", lambda s: s["operations"].update({"POST /v2/new": s["operations"][BUILD]})),
    ("`BuildRequest` takes `memo`.", lambda s: fields(s, "BuildRequest").update(memo=TEXT)),
    (
        "`BuildRequest` takes more in `slippageBps`.",
        lambda s: fields(s, "BuildRequest")["slippageBps"].update(maximum=9000),
    ),
    ("`BuildRequest` takes more in `tokens`.", lambda s: fields(s, "BuildRequest")["tokens"].update(maxItems=99)),
    ("`BuildRequest` takes more in `onLegFailure`.", lambda s: s["types"]["LegFailurePolicy"]["enum"].append("wait")),
    ("`BuiltSweep` has `memo`.", lambda s: fields(s, "BuiltSweep").update(memo=TEXT)),
    ("The message `sweep.seen` is new.", lambda s: s["messages"].update({"sweep.seen": s["messages"]["webhook.ping"]})),
    (f"`{BUILD}` can fail with `too_late`.", lambda s: s["operations"][BUILD]["codes"].append("too_late")),
    (f"`{BUILD}` is deprecated.", lambda s: s["operations"][BUILD].update(deprecated=True)),
    (f"`{BUILD}` no longer fails with `uneconomic`.", lambda s: s["operations"][BUILD]["codes"].remove("uneconomic")),
    (
        "`GET /v2/sweep/history` takes the parameter `memo`.",
        lambda s: s["operations"]["GET /v2/sweep/history"]["parameters"].update(
            memo={"in": "query", "required": False, "schema": TEXT}
        ),
    ),
]
BREAKING: list[tuple[str, Edit]] = [
    (f"`{BUILD}` is gone.", lambda s: without(s, "operations", BUILD)),
    (f"`{BUILD}` answers with another type.", lambda s: s["operations"][BUILD]["answers"].update({"201": TEXT})),
    (f"`{BUILD}` succeeds with another status.", lambda s: s["operations"][BUILD]["answers"].update({"202": TEXT})),
    (
        "`POST /v2/sweep/status/{sweep_id}/cancel` takes another body.",
        lambda s: s["operations"]["POST /v2/sweep/status/{sweep_id}/cancel"]["body"].update(required=True),
    ),
    (
        "`BuildRequest` requires `onUnroutable`.",
        lambda s: s["types"]["BuildRequest"]["required"].append("onUnroutable"),
    ),
    (
        "`BuildRequest` requires `memo`.",
        lambda s: s["types"]["BuildRequest"].update(required=["memo"]) or fields(s, "BuildRequest").update(memo=TEXT),
    ),
    (
        "`BuildRequest` no longer takes `approvals`.",
        lambda s: without(s, "types", "BuildRequest", "properties", "approvals"),
    ),
    (
        "`BuildRequest` takes other values in `slippageBps`.",
        lambda s: fields(s, "BuildRequest")["slippageBps"].update(maximum=1000),
    ),
    (
        "`BuildRequest` takes other values in `wallet`.",
        lambda s: fields(s, "BuildRequest")["wallet"].update(pattern="^0x$"),
    ),
    (
        "`BuildRequest` takes other values in `clientReference`.",
        lambda s: fields(s, "BuildRequest")["clientReference"].update(type="integer"),
    ),
    (
        "`BuildRequest` takes other values in `onUnroutable`.",
        lambda s: s["types"]["UnroutablePolicy"]["enum"].remove("skip"),
    ),
    ("`BuiltSweep` no longer has `economics`.", lambda s: without(s, "types", "BuiltSweep", "properties", "economics")),
    ("`BuiltSweep` may lack `economics`.", lambda s: s["types"]["BuiltSweep"]["required"].remove("economics")),
    ("`SweepState` has other values in `status`.", lambda s: s["types"]["SweepStatus"]["enum"].append("lost")),
    (
        "`BuiltSweep` has other values in `chainId`.",
        lambda s: fields(s, "BuiltSweep")["chainId"].update(type=["integer", "null"]),
    ),
    ("The message `webhook.ping` is gone.", lambda s: without(s, "messages", "webhook.ping")),
    ("The message `webhook.ping` has another type.", lambda s: s["messages"].update({"webhook.ping": TEXT})),
    (
        "`GET /v2/sweep/history` no longer takes the parameter `chain`.",
        lambda s: without(s, "operations", "GET /v2/sweep/history", "parameters", "chain"),
    ),
    (
        "`GET /v2/sweep/history` takes other values in the parameter `limit`.",
        lambda s: s["operations"]["GET /v2/sweep/history"]["parameters"]["limit"]["schema"].update(maximum=1),
    ),
]


@pytest.fixture
def found() -> dict[str, Any]:
    return surface(openapi.served())


def test_the_api_is_as_recorded() -> None:
    """``manage.py api_doc`` records what is new; what breaks clients needs a new version of the API."""
    assert api_doc.differences() == []


def test_the_record_is_written_as_the_command_writes_it() -> None:
    text = api_doc.record_path().read_text(encoding="utf-8")
    assert text == api_doc.record(json.loads(text))


def test_nothing_changed_between_a_document_and_itself(found: dict[str, Any]) -> None:
    assert changes(found, deepcopy(found)) == []


@pytest.mark.parametrize(("sentence", "edit"), HARMLESS, ids=[sentence for sentence, _ in HARMLESS])
def test_what_adds_to_the_api_breaks_no_client(found: dict[str, Any], sentence: str, edit: Edit) -> None:
    changed = deepcopy(found)
    edit(changed)
    assert [(one.sentence, one.is_breaking) for one in changes(found, changed)] == [(sentence, False)]


@pytest.mark.parametrize(("sentence", "edit"), BREAKING, ids=[sentence for sentence, _ in BREAKING])
def test_what_clients_rely_on_breaks_them_when_it_changes(found: dict[str, Any], sentence: str, edit: Edit) -> None:
    changed = deepcopy(found)
    edit(changed)
    assert sentence in [one.sentence for one in changes(found, changed) if one.is_breaking]


def test_an_operation_that_was_deprecated_may_go(found: dict[str, Any]) -> None:
    found["operations"][BUILD]["deprecated"] = True
    changed = deepcopy(found)
    del changed["operations"][BUILD]
    assert [one.is_breaking for one in changes(found, changed)] == [False]


def test_new_changes_are_listed_above_earlier_ones(found: dict[str, Any]) -> None:
    changed = deepcopy(found)
    fields(changed, "BuiltSweep")["memo"] = TEXT
    first = api_doc.page("", changes(found, changed))
    second = api_doc.page(first, changes(found, changed))
    assert first.startswith(api_doc.TITLE + api_doc.INTRODUCTION)
    assert second.count("- `BuiltSweep` has `memo`.") == 2
    assert second.count(api_doc.TITLE) == second.count("\n## ") == 1  # of one day
