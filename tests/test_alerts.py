"""The rules, the routes and the dashboard in ``ops/`` parse, and name what is there: metrics, labels, lines, pages."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from django.conf import settings
from prometheus_client.metrics import MetricWrapperBase

from console import home
from console.runbook import page_of
from sweepapi.monitoring import metrics
from sweepapi.monitoring.lines import COUNTED
from sweeps.models.sweep import FLAGS_TO_REVIEW
from sweeps.queues import QUEUES

OPS: Path = settings.BASE_DIR / "ops"
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((OPS / "prometheus" / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
ALERTS = [rule for rule in RULES if "alert" in rule]
DASHBOARD: dict[str, Any] = json.loads((OPS / "grafana" / "dashboards" / "service.json").read_text())
SHOWN = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
OURS = [one for one in vars(metrics).values() if isinstance(one, MetricWrapperBase)]
SERIES = {
    f"{family.name}{suffix}": one
    for one in OURS
    for family in one.describe()
    for suffix in {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(family.type, ("",))
}
RECORDED = {rule["record"] for rule in RULES if "record" in rule}


def expressions() -> list[str]:
    return [rule["expr"] for rule in RULES] + SHOWN


def selectors(expression: str) -> Iterator[Any]:
    """Yield each selector of series in an expression."""
    waiting = [promql_parser.parse(expression)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, promql_parser.VectorSelector):
            yield node
        elif isinstance(node, promql_parser.MatrixSelector):
            yield node.vector_selector
        elif isinstance(node, promql_parser.BinaryExpr):
            waiting += [node.lhs, node.rhs]
        elif isinstance(node, promql_parser.Call):
            waiting += node.args
        elif isinstance(node, promql_parser.AggregateExpr | promql_parser.ParenExpr | promql_parser.UnaryExpr):
            waiting.append(node.expr)


@pytest.mark.parametrize("expression", expressions())
def test_each_expression_parses_and_names_metrics_and_labels_of_ours(expression: str) -> None:
    for selector in selectors(expression):
        if selector.name == "up" or selector.name in RECORDED:
            continue
        labels = {matcher.name for matcher in selector.matchers.matchers}
        assert labels <= {*SERIES[selector.name]._labelnames, "job"}, selector.name  # noqa: SLF001 the library does not show them otherwise


def test_each_metric_is_alerted_or_shown() -> None:
    used = {selector.name for expression in expressions() for selector in selectors(expression)}
    unused = {one._name for one in OURS} - {SERIES[name]._name for name in used if name in SERIES}  # noqa: SLF001
    assert unused == {"sweepapi_rate_limit_fallback"}, "RedisAway says it"


def named_by(label: str) -> set[str]:
    """Return the values of a label that the rules name."""
    found = [re.findall(rf'{label}=~?"([^"]*)"', rule["expr"]) for rule in ALERTS]
    return {value for values in found for listed in values for value in listed.split("|")}


def test_the_rules_name_the_lines_that_are_counted_and_no_others() -> None:
    assert named_by("event") == set(COUNTED)


def test_the_rules_name_every_flag_to_review_once() -> None:
    assert named_by("flag") == set(FLAGS_TO_REVIEW)
    assert named_by("queue") <= {queue.name for queue in QUEUES}


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: str(rule["alert"]))
def test_each_alert_has_a_severity_a_cause_a_first_step_and_a_page(rule: dict[str, Any]) -> None:
    page = page_of(rule["alert"])
    assert rule["labels"]["severity"] in ("page", "ticket", "heartbeat")
    assert set(rule["annotations"]) == {"summary", "first", "runbook"}
    assert rule["annotations"]["runbook"] == "{{ $externalLabels.console }}/runbook/" + page + "/"
    text = (settings.BASE_DIR / "docs" / "runbook" / "alerts" / f"{page}.md").read_text()
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == ["How to see it", "What to do", "How to know it is over"]


def test_each_page_of_an_alert_has_its_alert_and_is_in_the_index() -> None:
    folder = settings.BASE_DIR / "docs" / "runbook"
    listed = re.findall(r"\((\w+)/([a-z0-9-]+)\.md\)", (folder / "index.md").read_text())
    files = {(path.parent.name, path.stem) for path in folder.glob("*/*.md")}
    assert sorted(listed) == sorted(files), "each once"
    assert {name for kind, name in files if kind == "alerts"} == {page_of(rule["alert"]) for rule in ALERTS}


def test_what_explains_others_names_alerts_that_exist() -> None:
    routes = yaml.safe_load((OPS / "alertmanager.yml").read_text())
    named = {
        name
        for rule in routes["inhibit_rules"]
        for matcher in rule["source_matchers"] + rule["target_matchers"]
        if matcher.startswith("alertname")
        for name in matcher.partition('"')[2].rstrip('"').split("|")
    }
    assert named <= {rule["alert"] for rule in ALERTS}
    assert {route["name"] for route in routes["receivers"]} == {"page", "ticket", "heartbeat"}


@pytest.mark.parametrize(
    ("alert", "threshold"), [("SignerOutOfGas", home.SIGNER_NEEDS_WEI), ("MonthUnsigned", home.UNSIGNED_SECONDS)]
)
def test_the_home_marks_from_the_threshold_of_the_alert_on(alert: str, threshold: int) -> None:
    (expression,) = [rule["expr"] for rule in ALERTS if rule["alert"] == alert]
    assert float(re.split("[<>]", expression)[1]) == threshold


def test_prometheus_scrapes_every_process_of_production() -> None:
    services = yaml.safe_load((settings.BASE_DIR / "compose.yaml").read_text())["services"]
    watched = {name for name, one in services.items() if "HEALTH_BIND" in one.get("environment", {})}
    targets = json.loads((OPS / "prometheus" / "targets.json").read_text())
    assert {group["labels"]["job"]: group["targets"] for group in targets} == {
        name: [f"{name}:8001"] for name in watched - {"migrate"}
    }
