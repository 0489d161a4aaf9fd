"""A copy of the contracts' project to try mutants in: their code is put where the tests find what they deploy.

The tests deploy from the build's artifacts and import no source that is mutated, so forge compiles nothing in between.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dev.mutation.compiler import Build, Code, Compiler, artifact_of
from dev.mutation.targets import TARGETS

TEST_CPU_SECONDS = (
    60  # many times what all tests take, however busy the machine: those of a mutant that take longer hang
)
_FORGE = "node_modules/@foundry-rs/forge-linux-amd64/bin/forge"
_SOURCES = ("contracts/src", "contracts/test", "contracts/dev", "contracts/bin")
_DATA = ("contracts/out/permit2", "contracts/erc7730", "tests/vectors", "var/vectors")
_SETTINGS = ("contracts/foundry.toml", "contracts/roles.json")
_FAILED = re.compile(r"^\[FAIL.*\] (\w+)", re.MULTILINE)


class BrokenProjectError(Exception):
    """The project itself does not build, or its tests fail or do not run: nothing can be said of mutants."""


class TestsHangError(Exception):
    """The tests of a mutant did not end."""


def make_copy(root: Path, folder: Path) -> Path:
    """Copy what it takes to build the contracts and test what they do; returns the copy of contracts/."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in (*_SOURCES, *_DATA):
        shutil.copytree(root / name, folder / name)
    for name in _SETTINGS:
        shutil.copy2(root / name, folder / name)
    contracts = folder / "contracts"
    (contracts / "node_modules").symlink_to(root / "contracts" / "node_modules")
    for test in (contracts / "test").glob("*.t.sol"):
        if not _tells_mutants(test):
            test.unlink()
    return contracts


def _tells_mutants(test: Path) -> bool:
    """Whether a test is of use: a gas bound kills mutants that do nothing wrong, and the others left out are slow."""
    slow = re.compile(r"function invariant_|vm\.pauseGasMetering")
    return not test.name.startswith("Gas") and slow.search(test.read_text()) is None


def builds_in(contracts: Path) -> dict[str, Build]:
    """Return how each target was built, there or in a copy."""
    return {target: Build.of(contracts, target) for target in TARGETS}


class Workbench:
    """One copy and one compiler, for one thread at a time."""

    def __init__(self, contracts: Path) -> None:
        self.contracts = contracts
        path = f"{(contracts / _FORGE).parent}:{os.environ['PATH']}"
        self._env = {**os.environ, "FOUNDRY_PROFILE": "mutants", "PATH": path}
        self.compiler = Compiler(contracts)

    def build(self) -> dict[str, Build]:
        """Build project and tests as they are; returns how each target was built."""
        self.run(["forge", "build", "--quiet"])
        builds = builds_in(self.contracts)
        self._retire_compiler(builds[TARGETS[0]].compiler)
        return builds

    def _retire_compiler(self, version: str) -> None:
        """Leave forge a compiler that only tells its version, at once: every run of the tests asks for that."""
        for compiler in (self.contracts / "bin").glob("solc-0.8.*"):
            compiler.write_text(f'#!/bin/sh\necho "Version: {version}.Linux.g++"\n')

    def run(self, argv: Sequence[str], **env: str) -> None:
        """Run a command in the copy. Raises BrokenProjectError if it fails."""
        ran = subprocess.run(argv, cwd=self.contracts, env=self._env | env, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise BrokenProjectError(f"{argv[0]} failed:\n{ran.stdout}{ran.stderr}")

    def failing_test(self) -> str | None:
        """Run the tests until one fails; returns its name, None if all pass.

        Raises TestsHangError, and BrokenProjectError if forge cannot test at all.
        """
        shutil.rmtree(self.contracts / "cache" / "fuzz", ignore_errors=True)  # inputs that another mutant failed on
        argv = [str(self.contracts / _FORGE), "test", "--fail-fast", "--threads", "1"]
        tests = subprocess.Popen(
            argv, cwd=self.contracts, env=self._env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        resource.prlimit(tests.pid, resource.RLIMIT_CPU, (TEST_CPU_SECONDS, resource.RLIM_INFINITY))
        told, _ = tests.communicate()
        if tests.returncode == 0:
            return None
        if tests.returncode == -signal.SIGXCPU:
            raise TestsHangError
        failed = _FAILED.search(told)
        if failed is None:
            raise BrokenProjectError(f"forge could not test:\n{told}")
        return failed[1]

    @contextmanager
    def deployed(self, target: str, code: Code) -> Iterator[None]:
        """Let the tests deploy this code as the target."""
        artifact = self.contracts / artifact_of(target)
        original = artifact.read_text()
        content = json.loads(original)
        content["bytecode"]["object"] = f"0x{code.creation}"
        content["deployedBytecode"]["object"] = f"0x{code.deployed}"
        artifact.write_text(json.dumps(content))
        try:
            yield
        finally:
            artifact.write_text(original)
