"""The built documentation is served as files, under a policy that allows its own scripts only."""

import gzip
from pathlib import Path

import pytest
from django.test import Client

from sweepapi.api.openapi import site

pytestmark = pytest.mark.django_db

PAGE = "<title>Quickstart</title><script>1</script>"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site of two pages, as a build leaves it."""
    folder = tmp_path / "site"
    for name in ("", "quickstarts/curl/"):
        page = folder / name / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(PAGE)
        page.with_name("index.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    (folder / "_astro").mkdir()
    (folder / "_astro" / "page.a1.css").write_text("body {}")
    (folder / site.SCRIPT_HASHES).write_text('["sha256-abc="]')
    (tmp_path / "secret").write_text("not for readers")
    monkeypatch.setattr(site, "FOLDER", folder)
    return folder


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("path", ["/docs/", "/docs/quickstarts/curl/"])
def test_a_page_is_shown_under_the_policy_of_the_build(anonymous: Client, path: str) -> None:
    response = anonymous.get(path)
    assert (response.content.decode(), response.headers["Content-Type"]) == (PAGE, "text/html; charset=utf-8")
    assert "script-src 'self' 'wasm-unsafe-eval' 'sha256-abc='; " in response.headers["Content-Security-Policy"]


@pytest.mark.usefixtures("built")
def test_it_is_sent_compressed_to_who_takes_that(anonymous: Client) -> None:
    response = anonymous.get("/docs/", headers={"accept-encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(response.content).decode() == PAGE


@pytest.mark.usefixtures("built")
def test_a_page_without_its_slash_is_redirected_to(anonymous: Client) -> None:
    assert anonymous.get("/docs/quickstarts/curl").headers["Location"] == "/docs/quickstarts/curl/"


@pytest.mark.usefixtures("built")
def test_only_files_whose_names_change_are_kept_for_long(anonymous: Client) -> None:
    ages = [anonymous.get(path).headers["Cache-Control"] for path in ("/docs/", "/docs/_astro/page.a1.css")]
    assert ages == ["public, max-age=300", "public, max-age=31536000"]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("path", ["nothing", "../secret", "%2e%2e/secret", "quickstarts/../../secret", "/etc/passwd"])
def test_nothing_else_is_served(anonymous: Client, path: str) -> None:
    assert anonymous.get(f"/docs/{path}").status_code == 404


def test_a_newer_build_is_shown_at_once(anonymous: Client, built: Path) -> None:
    anonymous.get("/docs/")
    (built / "new.txt").write_text("new")
    (built / site.SCRIPT_HASHES).unlink()
    (built / site.SCRIPT_HASHES).write_text("[]")
    assert anonymous.get("/docs/new.txt").content == b"new"


def test_without_a_build_the_page_says_so_and_the_errors_are_explained(
    anonymous: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "FOLDER", tmp_path / "none")
    assert "not built yet" in anonymous.get("/docs/").content.decode()
    assert anonymous.get("/docs/quickstarts/curl/").status_code == 404
    assert anonymous.get("/docs/errors").status_code == 200


def test_it_is_read_only(anonymous: Client) -> None:
    assert anonymous.post("/docs/").status_code == 405
