"""What the pages name exists: settings, log lines, metrics, commands and files."""

import re

import pytest

from tests.test_links import text, tracked

QUOTED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")  # a log line, flag, field or setting
METRIC = re.compile(r"\bsweepapi_[a-z_]+[a-z]")
COMMAND = re.compile(r"manage\.py ([a-z_0-9]+)")
MODULE = re.compile(r"[\w-]+(?:/[\w-]+)+\.(?:py|sol|toml|sql)")
WORD = re.compile(r"\w+")
SHELL_VARIABLE = re.compile(r"\$([A-Z_]+)")  # of a page's own blocks
# Of PostgreSQL, AWS, Linux, wallets and Django.
FOREIGN = {"archive_mode", "archive_command", "recovery_target_time", "restore_command", "pg_prepared_xacts"}
FOREIGN |= {"ECC_SECG_P256K1", "SO_REUSEPORT", "eth_sign"}
DJANGO = {"check", "createsuperuser", "makemigrations", "migrate", "spectacular"}
# The table of the source document has a test of its own.
PAGES = sorted(set(tracked(".md")) - {"docs/source-coverage.md", "CHANGELOG.md"})
SOURCES = [path for path in tracked(".py", ".toml", ".yaml", ".sql", ".sol", ".json") if not path.startswith("tests/")]
WORDS = {word for path in SOURCES for word in WORD.findall(text(path))}
COMMANDS = {path.rsplit("/", 1)[1].removesuffix(".py") for path in SOURCES if "/management/commands/" in path} | DJANGO
MODULES = tracked(".py", ".sol", ".toml", ".sql")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_only_what_exists(page: str) -> None:
    quoted = QUOTED.findall(text(page))
    names = {one for one in quoted if NAME.fullmatch(one) and not METRIC.match(one)}
    assert {one for one in names if not one.startswith("test_")} <= WORDS | FOREIGN | set(
        SHELL_VARIABLE.findall(text(page))
    )
    assert {one.removesuffix("_total") for one in METRIC.findall(text(page))} <= WORDS
    assert set(COMMAND.findall(text(page))) <= COMMANDS
    modules = {module for one in quoted for module in MODULE.findall(one)}
    assert [one for one in modules if not any(f"/{path}".endswith(f"/{one}") for path in MODULES)] == []
