"""The project, the OpenAPI document and the clients name one version."""

import json
import tomllib
from pathlib import Path

from django.conf import settings

ROOT = Path(__file__).parents[1]


def test_the_document_and_the_clients_have_the_version_of_the_project() -> None:
    project, python_client = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        for folder in (".", "clients/python")
    )
    manifest = json.loads((ROOT / "clients" / "typescript" / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / "clients" / "typescript" / "package-lock.json").read_text(encoding="utf-8"))
    typescript_client = {manifest["version"], lock["version"]}
    assert typescript_client | {python_client, settings.SPECTACULAR_SETTINGS["VERSION"]} == {project}
