"""Sends requests that Schemathesis makes up from the OpenAPI document, and has it check every answer.

Operations, links, values and checks are those of the document and of Schemathesis: nothing here lists operations.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure
from schemathesis.engine import events, from_schema
from schemathesis.generation import GenerationMode
from schemathesis.openapi.checks import RejectedPositiveData

from sweepapi.api.input.field_codes import FIELD_CODES

# Requests that are refused with these codes are not of the form that the document describes.
FORM = {
    *("invalid_request", "forbidden_field", "method_not_allowed", "not_acceptable"),
    *("unsupported_media_type", "payload_too_large"),
}
FIELDS_OF_FORM = {
    *("required", "unknown_field", "duplicate_field", "forbidden_field", "invalid_type"),
    *("invalid_format", "invalid_choice", "out_of_range", "too_short", "too_long"),
}
assert FIELD_CODES.keys() > FIELDS_OF_FORM
# Where a schema takes more than the service, because patterns and formats can't say it.
BEYOND_SCHEMAS = {
    "invalid_format": {
        *("wallet", "mint", "outputMint", "token", "txHash"),  # base58 text of the right length in bytes
        "cursor",  # of a page of ours
        *("from", "to", "at", "since"),  # the year 0, leap seconds
        "url",  # names that are reserved, such as those below .test
    },
    "out_of_range": {"amount"},  # the largest uint256 and u64
    "too_long": {"receipts"},  # of more than ten transactions, which may be repeated
}


# Runs of several steps, for each example of the other phases.
STATEFUL_RUNS = 6


@dataclass
class Findings:
    """What became of all requests."""

    problems: dict[str, str] = field(default_factory=dict)  # of each operation and check, the first
    statuses: dict[str, Counter[int]] = field(default_factory=dict)  # by operation
    followed: Counter[str] = field(default_factory=Counter)  # by link
    checks: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """Return everything as JSON."""
        return json.dumps(vars(self), indent=2)

    def note(self, event: events.EngineEvent) -> None:
        """Add what an event says."""
        match event:
            case events.FatalError():
                raise event.exception
            case events.NonFatalError():
                self.problems.setdefault(f"{event.label}: error", event.info.format())
            case events.ScenarioFinished():
                self._note_requests(event.recorder)
                self._note_checks(event.recorder)
            case events.EngineFinished():
                self.problems.update((f"run: {failure.title}", failure.message) for failure in event.failures)

    def _note_requests(self, recorder: Any) -> None:
        for case_id, interaction in recorder.interactions.items():
            case = recorder.cases[case_id]
            status = 0 if interaction.response is None else interaction.response.status_code
            self.statuses.setdefault(case.value.operation.label, Counter())[status] += 1
            if case.is_transition_applied:
                self.followed[case.transition.id] += 1

    def _note_checks(self, recorder: Any) -> None:
        for check in (check for checks in recorder.checks.values() for check in checks):
            self.checks[check.name] += 1
            if check.failure_info is not None:
                failure, sample = check.failure_info.failure, check.failure_info.code_sample
                self.problems.setdefault(f"{recorder.label}: {check.name}: {failure.title}", f"{failure}\n{sample}")


def fuzz(base_url: str, document: dict[str, Any], *, key: str, max_examples: int, seed: int) -> Findings:
    """Run all phases with all checks, the same way for the same seed."""
    generation = {"max-examples": max_examples, "deterministic": True, "database": "none"}
    settings: dict[str, Any] = {
        "seed": seed,
        "base-url": base_url,
        "headers": {"x-api-key": key},
        "continue-on-failure": True,
        "request-timeout": 120,
        "suppress-health-check": ["all"],
        "output": {"sanitization": {"enabled": False}},
        "generation": generation,
        # Steps that follow links: most end at a sweep or an endpoint that was made up.
        "phases": {"stateful": {"generation": generation | {"max-examples": STATEFUL_RUNS * max_examples}}},
    }
    schema = schemathesis.openapi.from_dict(document, config=SchemathesisConfig.from_dict(settings))
    schema.hook(filter_failure)
    schema.hook(flatmap_case)
    findings = Findings()
    for event in from_schema(schema).execute():
        findings.note(event)
    return findings


def without_repeated_keys(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without its example of an Idempotency-Key, under which only the first body is built."""
    changed = deepcopy(document)
    for operations in changed["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "Idempotency-Key":
                    del parameter["schema"]["examples"]
    return changed


def with_values(document: dict[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Return the document with these strings replaced wherever they are whole values, as in its examples."""
    text = json.dumps(document)
    for shown, ours in values.items():
        assert json.dumps(shown) in text, f"the document has no {shown}"
        text = text.replace(json.dumps(shown), json.dumps(ours))
    changed: dict[str, Any] = json.loads(text)
    return changed


def flatmap_case(_context: Any, case: Any) -> st.SearchStrategy[Any]:
    """Give half of the valid requests an example as body, because no made-up token can be swept."""
    body = case.operation.definition.raw.get("requestBody", {}).get("content", {}).get("application/json", {})
    examples = [example["value"] for example in body.get("examples", {}).values()]
    if not examples or case.meta.generation.mode != GenerationMode.POSITIVE:
        return st.just(case)
    return st.one_of(st.none(), st.sampled_from(examples)).map(lambda example: _with_body(case, example))


def _with_body(case: Any, example: Any) -> Any:
    if example is not None:
        case.body = example
    return case


def filter_failure(_context: Any, failure: Failure, case: Any, response: Any) -> bool:
    """Accept that a request of the right form is refused for its meaning: no schema knows which tokens exist."""
    if not isinstance(failure, RejectedPositiveData):
        return True
    error = response.json()["error"]
    if error["code"] not in FORM:
        return False
    return not error["details"] or any(_is_about_form(detail, case.body) for detail in error["details"])


def _is_about_form(detail: Mapping[str, str], body: Any) -> bool:
    steps = re.findall(r"\w+", detail["field"])
    if detail["code"] == "invalid_type":
        value = _value_at(body, steps)
        return not (isinstance(value, float) and value.is_integer())  # to JSON Schema, 50.0 is an integer
    return detail["code"] in FIELDS_OF_FORM and steps[-1] not in BEYOND_SCHEMAS.get(detail["code"], ())


def _value_at(body: Any, steps: Sequence[str]) -> Any:
    for step in steps:
        if isinstance(body, list):
            body = body[int(step)]
        elif isinstance(body, dict):
            body = body.get(step)
    return body
