"""The queries of the dashboard: each has to return samples where the service runs."""

import json
from collections.abc import Iterator

from lab.alerts.scene import ROOT, AlertScene

DASHBOARD = ROOT / "ops" / "grafana" / "dashboards" / "service.json"


def expressions() -> Iterator[tuple[str, str]]:
    """Yield the title of each panel with each of its expressions."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def without_samples(of: AlertScene) -> list[str]:
    """Return the panels that would show nothing now."""
    return [f"{title}: {expression}" for title, expression in expressions() if not of.query(expression)]
