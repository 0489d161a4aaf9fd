"""Every block that a reader of a quickstart can copy is run as the page shows it, in order, in an empty folder."""

import html
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.test import Client

from dev.node import node_folder
from sweepapi.api.openapi import site
from sweeps.models import Sweep
from tests.documentation import build

QUICKSTARTS = ("typescript", "python", "curl")
MAX_OWN_LINES = 40
LOCAL_CURL = Path(__file__).with_name("local_curl.py")
KEPT = ("HOME", "LANG", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")  # of the environment, and PIP_…
BLOCK = re.compile(r'<figure class="frame.*?</figure>', re.DOTALL)
TITLE = re.compile(r'<span class="title">([^<]+)</span>')
COPIED = re.compile(r'data-code="([^"]*)"')

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Block:
    """What the button of a block copies; with a title, it is the content of that file."""

    title: str | None
    content: str


@pytest.fixture
def documentation(world_env: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The site, built with these variables."""
    monkeypatch.setattr(site, "FOLDER", build(world_env.parent, WORLD_ENV=str(world_env)))


def blocks_of(page: str) -> list[Block]:
    shown = []
    for figure in BLOCK.findall(page):
        title, copied = TITLE.search(figure), COPIED.search(figure)
        assert copied is not None
        shown.append(Block(title and title[1], html.unescape(copied[1]).replace("\x7f", "\n")))
    return shown


def run(blocks: list[Block], folder: Path) -> str:
    """Save the files, run the other blocks in one shell, and return what they print."""
    tools = folder.with_name(f"{folder.name}-tools")
    for path in (folder, tools):
        path.mkdir()
    if shutil.which("curl") is None:
        substitute = tools / "curl"
        substitute.write_text(f'#!/bin/sh\nexec {sys.executable} {LOCAL_CURL} "$@"\n')
        substitute.chmod(0o755)
    commands = []
    for block in blocks:
        if block.title:
            (folder / block.title).write_text(f"{block.content}\n")
        else:
            commands.append(block.content)
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("PIP_")}
    search_path = f"{tools}:{node_folder()}:{os.environ['PATH']}"
    ran = subprocess.run(
        ["/usr/bin/env", "bash", "-ec", "\n".join(commands)],
        cwd=folder,
        env={**kept, "PATH": search_path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.usefixtures("documentation")
def test_each_quickstart_sweeps(anonymous: Client, tmp_path: Path) -> None:
    for done, name in enumerate(QUICKSTARTS, start=1):
        blocks = blocks_of(anonymous.get(f"/docs/quickstarts/{name}/").content.decode())
        own = [line for block in blocks if block.title for line in block.content.splitlines() if line.strip()]
        assert 0 < len(own) <= MAX_OWN_LINES, f"{name} has {len(own)} lines"
        printed = run(blocks, tmp_path / name)
        assert "completed" in printed, name
        assert Sweep.objects.filter(status="completed").count() == done
