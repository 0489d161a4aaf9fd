"""Finds a Chromium, or unpacks the npm build of it into ``var``.

``python -m dev.browser.chromium`` prints the executable. The npm build brings the libraries and the font that it needs.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from dev.node import node_folder
from dev.processes.errors import NotInstalledError
from dev.world import VAR

NAMES = ("chromium", "chromium-browser", "google-chrome")
_PACKAGE = Path(__file__).with_name("node_modules") / "@sparticuz" / "chromium"
_ARCHIVES = ("al2023.tar", "fonts.tar", "swiftshader.tar")  # libraries; a font; drawing without a graphics card
_START = """#!/bin/sh
here=${0%/*}
LD_LIBRARY_PATH="$here/lib" FONTCONFIG_FILE="$here/fonts.xml" exec "$here/headless_shell" "$@"
"""
# The machine's fonts, and those of the package.
_FONTS = """<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
</fontconfig>
"""


def executable() -> Path:
    """Return the Chromium that ``CHROMIUM`` names, else the system's, else that of the npm package."""
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    return Path(found) if found else _unpacked()


def _unpacked() -> Path:
    if not _PACKAGE.is_dir():
        raise NotInstalledError(
            "no Chromium is installed: run `make test`, which installs one, or name one in CHROMIUM"
        )
    version: str = json.loads((_PACKAGE / "package.json").read_text())["version"]
    folder = VAR / "chromium" / version
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unpacking = Path(tempfile.mkdtemp(dir=folder.parent))
        _unpack(unpacking)
        unpacking.rename(folder)
    return folder / "chromium"


def _unpack(folder: Path) -> None:
    _decompress("chromium", folder / "headless_shell")
    for name in _ARCHIVES:
        _decompress(name, folder / name)
        subprocess.run(["/usr/bin/env", "tar", "--extract", "--file", name], cwd=folder, check=True)
        (folder / name).unlink()
    (folder / "fonts.xml").write_text(_FONTS)
    (folder / "chromium").write_text(_START)
    for program in ("headless_shell", "chromium"):
        (folder / program).chmod(0o755)


def _decompress(name: str, to: Path) -> None:
    script = "process.stdin.pipe(require('node:zlib').createBrotliDecompress()).pipe(process.stdout)"
    with (_PACKAGE / "bin" / f"{name}.br").open("rb") as packed, to.open("wb") as file:
        subprocess.run([node_folder() / "node", "--eval", script], stdin=packed, stdout=file, check=True)


if __name__ == "__main__":
    print(executable())
