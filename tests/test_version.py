"""The project, the OpenAPI document and the clients name one version."""

import json
import tomllib
from pathlib import Path

from django.conf import settings

ROOT = Path(__file__).parents[1]


def test_the_document_and_the_clients_have_the_version_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    manifest = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / "clients" / "typescript" / "package-lock.json").read_text(encoding="utf-8"))
    assert {manifest["version"], lock["version"], settings.SPECTACULAR_SETTINGS["VERSION"]} == {project}
