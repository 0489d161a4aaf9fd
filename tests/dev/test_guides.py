"""Every block of the guides that a reader can copy is run as its page shows it, in order, in an empty folder."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from http.client import HTTPConnection
from pathlib import Path

import pytest
from django.utils import timezone

from dev.node import node_folder
from dev.ports import free_port
from dev.processes.waiting import wait_until
from partners.webhooks.signing import signature
from sweepapi.api.openapi.document import document
from tests.dev.snippets import Block, blocks_of, documents_in, run
from tests.local_chain import LocalChain

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # of the standard's own documents
MESSAGE = b'{"type": "sweep.completed", "data": {"sweepId": "019cade2", "sequence": 1}}'


@pytest.fixture
def copied(site_pages: Path, tmp_path: Path, snippets: dict[str, str]) -> Callable[..., str]:
    """Run the blocks of a guide with some variables, and return what they print."""

    def run_guide(guide: str, **variables: str) -> str:
        return run(blocks_in(site_pages, guide), tmp_path / guide, snippets | variables)

    return run_guide


def blocks_in(site_pages: Path, guide: str) -> list[Block]:
    return blocks_of((site_pages / "guides" / guide / "index.html").read_text())


def test_what_each_library_signs_is_accepted(copied: Callable[..., str], chain: LocalChain) -> None:
    finalized = documents_in(copied("signing", TOKEN=chain.token("USDC").address))
    assert [answer["ok"] for answer in finalized] == [True] * 3


def test_a_batch_is_completed(copied: Callable[..., str], sandbox_tokens: dict[str, str]) -> None:
    assert copied("one-prompt", TOKEN=sandbox_tokens["SCRIPT"]).split() == ["completed"] * 2


def test_a_forced_revert_is_seen_as_one_and_the_sweep_is_completed_after_it(
    copied: Callable[..., str], sandbox_tokens: dict[str, str]
) -> None:
    first, second, third = copied("testing", REVERT=sandbox_tokens["REVERT"]).splitlines()
    assert first.startswith("transaction_reverted")
    assert second.startswith("failed")
    assert third == "completed"


def test_the_python_client_makes_an_offer_and_its_server_for_models_can_be_set_up(
    site_pages: Path, tmp_path: Path, snippets: dict[str, str], sandbox_tokens: dict[str, str]
) -> None:
    offering, setting_up = blocks_in(site_pages, "python-client")
    start = Block(None, f"{sys.executable} {offering.title}")
    printed = run([offering, start], tmp_path / "offering", snippets | {"TOKEN": sandbox_tokens["SCRIPT"]})
    assert printed.startswith("You sell")
    (server,) = json.loads(setting_up.content)["mcpServers"].values()
    assert Path(sys.executable).with_name(server["command"]).is_file()
    assert server["env"].keys() <= snippets.keys()


@pytest.mark.parametrize("command", [(str(node_folder() / "node"), "hooks.ts"), ("hooks/bin/python", "hooks.py")])
def test_the_servers_of_webhooks_take_our_messages_only(
    site_pages: Path, tmp_path: Path, command: tuple[str, str]
) -> None:
    folder = tmp_path / "webhooks"
    run(blocks_in(site_pages, "webhooks"), folder, {})
    at = timezone.now()
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signature([SECRET], message_id="msg_1", at=at, body=MESSAGE),
    }
    with serving(folder, command) as post:
        assert post(MESSAGE, headers) == 204
        assert post(MESSAGE.replace(b"019c", b"029c"), headers) == 400
        old = str(int((at - timedelta(hours=1)).timestamp()))
        assert post(MESSAGE, headers | {"webhook-timestamp": old}) == 400


@contextmanager
def serving(folder: Path, command: tuple[str, str]) -> Iterator[Callable[[bytes, dict[str, str]], int]]:
    """Run a server of webhooks, to which the function posts."""
    port = free_port()

    def post(body: bytes, headers: dict[str, str]) -> int:
        with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request("POST", "/", body, headers)
            return connection.getresponse().status

    def listens() -> bool:
        with socket.socket() as caller:
            return caller.connect_ex(("127.0.0.1", port)) == 0

    server = subprocess.Popen(command, cwd=folder, env={"WEBHOOK_SECRET": SECRET, "PORT": str(port)})
    try:
        wait_until(listens, within_seconds=60, what=f"start of {command[-1]}")
        yield post
    finally:
        server.kill()
        server.wait()


def test_each_guide_with_blocks_is_run(site_pages: Path) -> None:
    guides = {page.parent.name for page in site_pages.glob("guides/*/index.html")}
    with_blocks = {guide for guide in guides if blocks_in(site_pages, guide)}
    shown_only = {"bad-tokens"}  # answers, which its own test compares
    assert with_blocks - shown_only == {"signing", "one-prompt", "testing", "webhooks", "python-client"}


def test_the_guide_to_webhooks_names_every_type_of_message(site_pages: Path) -> None:
    text = (site_pages / "guides" / "webhooks.md").read_text()
    described: dict[str, object] = json.loads(document().plain.body)["webhooks"]
    assert [name for name in described if f"`{name}`" not in text] == []
