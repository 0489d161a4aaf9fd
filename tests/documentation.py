"""Builds the documentation for partners into files of a test, as ``make docs`` does for the service."""

import os
import subprocess
from pathlib import Path

from django.conf import settings

from dev.node import node_folder
from sweepapi.api.openapi.document import document

SITE = Path(settings.BASE_DIR, "docs", "site")
ASTRO = SITE / "node_modules" / "astro" / "bin" / "astro.mjs"


def build(folder: Path, **variables: str) -> Path:
    """Build the site below the folder, with these variables of the environment, and return its own folder."""
    openapi_file, built = folder / "openapi.json", folder / "site"
    openapi_file.write_bytes(document().plain.body)
    given = {"OPENAPI_FILE": str(openapi_file), "ASTRO_TELEMETRY_DISABLED": "1"}
    subprocess.run(
        [node_folder() / "node", ASTRO, "build", "--silent", "--force", "--outDir", built],
        cwd=SITE,
        env={**os.environ, **given, **variables},
        check=True,
    )
    return built
