"""Every block that a reader of a quickstart can copy is run as the page shows it, in order, in an empty folder."""

from pathlib import Path

import pytest
from django.test import Client

from dev.world import exported
from sweepapi.api.openapi import site
from sweeps.models import Sweep
from tests.dev.snippets import blocks_of, run
from tests.documentation import build

QUICKSTARTS = ("typescript", "python", "curl")
MAX_OWN_LINES = 40

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def documentation(snippets: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The site, built with these variables."""
    variables = tmp_path / "world.env"
    variables.write_text(exported(snippets))
    monkeypatch.setattr(site, "FOLDER", build(tmp_path, WORLD_ENV=str(variables)))


@pytest.mark.usefixtures("documentation")
def test_each_quickstart_sweeps(anonymous: Client, tmp_path: Path) -> None:
    for done, name in enumerate(QUICKSTARTS, start=1):
        blocks = blocks_of(anonymous.get(f"/docs/quickstarts/{name}/").content.decode())
        own = [line for block in blocks if block.title for line in block.content.splitlines() if line.strip()]
        assert 0 < len(own) <= MAX_OWN_LINES, f"{name} has {len(own)} lines"
        printed = run(blocks, tmp_path / name, {})
        assert "completed" in printed, name
        assert Sweep.objects.filter(status="completed").count() == done
