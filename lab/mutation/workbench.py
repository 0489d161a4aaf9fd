"""A copy of the contracts' project to try mutants in: it writes their code into the artifacts that the tests deploy.

The tests deploy from artifacts and import no mutated source, so forge does not recompile for a mutant.
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

from lab.mutation.compiler import Build, Code, Compiler, artifact_of
from lab.mutation.targets import TARGETS

TEST_CPU_SECONDS = 60  # of CPU, so load does not matter; all tests take a fraction of it
_FORGE = "node_modules/@foundry-rs/forge-linux-amd64/bin/forge"
_SOURCES = ("contracts/src", "contracts/test", "contracts/dev", "contracts/bin")
_DATA = ("contracts/out/permit2", "contracts/erc7730", "tests/vectors", "var/vectors")
_SETTINGS = ("contracts/foundry.toml", "contracts/roles.json")
_FAILED = re.compile(r"^\[FAIL.*\] (\w+)", re.MULTILINE)


class BrokenProjectError(Exception):
    """The original does not build, or its tests fail or do not run."""


class TestsHangError(Exception):
    """The tests of a mutant did not finish."""


def make_copy(root: Path, folder: Path) -> Path:
    """Copy what the contracts' build and tests need; returns the copy of contracts/."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in (*_SOURCES, *_DATA):
        shutil.copytree(root / name, folder / name)
    for name in _SETTINGS:
        shutil.copy2(root / name, folder / name)
    contracts = folder / "contracts"
    (contracts / "node_modules").symlink_to(root / "contracts" / "node_modules")
    for test in (contracts / "test").glob("*.t.sol"):
        if not _is_useful(test):
            test.unlink()
    return contracts


def _is_useful(test: Path) -> bool:
    """Whether to run a test file: gas bounds kill correct mutants, and invariant and metered tests are too slow."""
    slow = re.compile(r"function invariant_|vm\.pauseGasMetering")
    return not test.name.startswith("Gas") and slow.search(test.read_text()) is None


def builds_in(contracts: Path) -> dict[str, Build]:
    return {target: Build.of(contracts, target) for target in TARGETS}


class Workbench:
    """One copy and one compiler; not thread-safe."""

    def __init__(self, contracts: Path) -> None:
        self.contracts = contracts
        path = f"{(contracts / _FORGE).parent}:{os.environ['PATH']}"
        self._env = {**os.environ, "FOUNDRY_PROFILE": "mutants", "PATH": path}
        self.compiler = Compiler(contracts)

    def build(self) -> dict[str, Build]:
        """Build the contracts and tests; returns the build of each target."""
        self.run(["forge", "build", "--quiet"])
        builds = builds_in(self.contracts)
        self._stub_compiler(builds[TARGETS[0]].compiler)
        return builds

    def _stub_compiler(self, version: str) -> None:
        """Replace the compiler by a stub that prints its version: every test run asks for it, and solc is slow."""
        for compiler in (self.contracts / "bin").glob("solc-0.8.*"):
            compiler.write_text(f'#!/bin/sh\necho "Version: {version}.Linux.g++"\n')

    def run(self, argv: Sequence[str], **env: str) -> None:
        """Run a command in the copy; raises BrokenProjectError if it fails."""
        ran = subprocess.run(argv, cwd=self.contracts, env=self._env | env, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise BrokenProjectError(f"{argv[0]} failed:\n{ran.stdout}{ran.stderr}")

    def failing_test(self) -> str | None:
        """Run the tests until one fails; returns its name, or None if all pass.

        Raises TestsHangError, and BrokenProjectError if forge cannot run them.
        """
        shutil.rmtree(self.contracts / "cache" / "fuzz", ignore_errors=True)  # inputs on which another mutant failed
        argv = [str(self.contracts / _FORGE), "test", "--fail-fast", "--threads", "1"]
        tests = subprocess.Popen(
            argv, cwd=self.contracts, env=self._env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        resource.prlimit(tests.pid, resource.RLIMIT_CPU, (TEST_CPU_SECONDS, resource.RLIM_INFINITY))
        output, _ = tests.communicate()
        if tests.returncode == 0:
            return None
        if tests.returncode == -signal.SIGXCPU:
            raise TestsHangError
        failed = _FAILED.search(output)
        if failed is None:
            raise BrokenProjectError(f"forge could not run the tests:\n{output}")
        return failed[1]

    @contextmanager
    def deployed(self, target: str, code: Code) -> Iterator[None]:
        """Make the tests deploy this code as the target."""
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
