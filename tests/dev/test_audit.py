"""An audit goes on where an index lacks a release or is away, and fails for findings, or if it learned nothing."""

import json
from pathlib import Path

import pytest

from dev import audit

KNOWN = {"name": "django", "version": "5.2", "vulns": []}
VULNERABLE = {"name": "django", "version": "5.1", "vulns": [{"id": "CVE-2026-1"}]}
SKIPPED = {"name": "multicall", "skip_reason": "Dependency not found on PyPI: multicall (0.15.2)"}
FROM_NPM = {"metadata": {"dependencies": {"prod": 7}}, "vulnerabilities": {}}
AWAY = {"message": "request to the registry failed", "error": {}}


def tool(folder: Path, name: str, answer: object) -> str:
    """Write a program that answers this, or nothing but a complaint, and fails as the tools do for anything."""
    path = folder / name
    said = "echo 'the index is away' >&2" if answer is None else f"cat {path}.json"
    path.with_suffix(".json").write_text(json.dumps(answer))
    path.write_text(f"#!/bin/sh\n{said}\nexit 1\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("answers", "code", "line"),
    [
        (({"dependencies": [KNOWN]}, FROM_NPM), 0, "0 findings, 0 unknown."),
        (({"dependencies": [KNOWN, SKIPPED]}, FROM_NPM), 0, "NOT LOOKED UP: base.txt: Dependency not found on PyPI"),
        (({"dependencies": [SKIPPED, VULNERABLE]}, FROM_NPM), 1, "VULNERABLE: base.txt: django 5.1: CVE-2026-1"),
        ((None, FROM_NPM), 0, "NOT LOOKED UP: base.txt: the index is away"),
        (({"dependencies": [KNOWN]}, AWAY), 0, "NOT LOOKED UP: contracts: request to the registry failed"),
        (({"dependencies": [KNOWN]}, None), 0, "NOT LOOKED UP: contracts: the index is away"),
        (
            ({"dependencies": [KNOWN]}, FROM_NPM | {"vulnerabilities": {"left-pad": {"severity": "high"}}}),
            1,
            "VULNERABLE: contracts: left-pad (high)",
        ),
        ((None, AWAY), 1, "0 releases were looked up"),
        (({"dependencies": [SKIPPED]}, None), 1, "0 releases were looked up"),
    ],
)
def test_what_is_unknown_is_named_and_what_is_found_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answers: tuple[object, object], code: int, line: str
) -> None:
    python, node = answers
    assert audit.main(tool(tmp_path, "pip-audit", python), tool(tmp_path, "npm", node)) == code
    assert line in capsys.readouterr().out
