"""The blocks of the documentation's pages that readers copy, run as a shell runs them."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.node import node_folder

LOCAL_CURL = Path(__file__).with_name("local_curl.py")
KEPT = ("HOME", "LANG", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")  # of the environment, and PIP_…
BLOCK = re.compile(r'<figure class="frame.*?</figure>', re.DOTALL)
TITLE = re.compile(r'<span class="title">([^<]+)</span>')
COPIED = re.compile(r'data-code="([^"]*)"')


@dataclass(frozen=True)
class Block:
    """What the button of a block copies; with a title, it is the content of that file."""

    title: str | None
    content: str


def blocks_of(page: str) -> list[Block]:
    shown = []
    for figure in BLOCK.findall(page):
        title, copied = TITLE.search(figure), COPIED.search(figure)
        assert copied is not None
        shown.append(Block(title and title[1], html.unescape(copied[1]).replace("\x7f", "\n")))
    return shown


def run(blocks: list[Block], folder: Path, variables: Mapping[str, str]) -> str:
    """Save the files, run the other blocks in one shell with these variables, and return what they print."""
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
        env={**kept, **variables, "PATH": search_path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def documents_in(printed: str) -> list[Any]:
    """Return the JSON documents that follow each other in a text."""
    decoder, documents = json.JSONDecoder(), []
    while printed := printed.lstrip():
        found, end = decoder.raw_decode(printed)
        documents.append(found)
        printed = printed[end:]
    return documents
