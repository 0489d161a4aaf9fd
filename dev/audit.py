"""Looks the locked dependencies up in the databases of known vulnerabilities: ``python -m dev.audit PIP_AUDIT NPM``.

Names what could not be looked up and goes on, because an index may not have a release, or be away. Exits with 1 if
there are findings, or if nothing could be looked up: then the silence says nothing.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SECONDS = 600  # for one file


@dataclass
class Audit:
    """What was found, and how much was looked up."""

    looked_up: int = 0
    findings: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def of_python(self, pip_audit: str, lock: Path) -> None:
        """Look up one lock file; the environments lock different versions."""
        options = ["--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json"]
        answer, said = _json([pip_audit, *options, "-r", str(lock)], ROOT)
        if "dependencies" not in answer:
            self.unknown.append(f"{lock.name}: {said}")
            return
        for one in answer["dependencies"]:
            if "skip_reason" in one:
                self.unknown.append(f"{lock.name}: {one['skip_reason']}")
                continue
            self.looked_up += 1
            named = f"{lock.name}: {one['name']} {one['version']}"
            self.findings += [f"{named}: {found['id']}" for found in one["vulns"]]

    def of_node(self, npm: str, folder: Path) -> None:
        """Look up a package's dependencies, except those of development: sources that others released, and tools."""
        answer, said = _json([npm, "audit", "--omit=dev", "--json"], folder)
        if "metadata" not in answer:
            self.unknown.append(f"{folder.name}: {answer.get('message', said)}")
            return
        self.looked_up += answer["metadata"]["dependencies"]["prod"]
        self.findings += [
            f"{folder.name}: {name} ({one['severity']})" for name, one in answer["vulnerabilities"].items()
        ]

    def report(self) -> Iterator[str]:
        yield from (f"NOT LOOKED UP: {one}" for one in self.unknown)
        yield from (f"VULNERABLE: {one}" for one in self.findings)
        yield f"{self.looked_up} releases were looked up, {len(self.findings)} findings, {len(self.unknown)} unknown."


def _json(command: Sequence[str], folder: Path) -> tuple[dict[str, Any], str]:
    """Return what a command answers, and the last line that it says beside it."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    said = (done.stderr.strip() or "it said nothing").splitlines()[-1]
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return {}, said
    return answer if isinstance(answer, dict) else {}, said


def main(pip_audit: str, npm: str) -> int:
    audit = Audit()
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        audit.of_python(pip_audit, lock)
    for folder in ("contracts", "clients/typescript"):
        audit.of_node(npm, ROOT / folder)
    for line in audit.report():
        print(line)
    return 1 if audit.findings or not audit.looked_up else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
