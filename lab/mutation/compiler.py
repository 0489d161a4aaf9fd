"""Compiles changed sources with the settings of a build, in one long-lived process: solc is slow to load."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast


@dataclass(frozen=True)
class Code:
    """The bytecode of one contract, as hex without 0x."""

    creation: str
    deployed: str


@dataclass(frozen=True)
class Build:
    """The complete input of the compiler for one contract."""

    file: str
    contract: str
    compiler: str  # version
    settings: Mapping[str, Any]
    sources: Mapping[str, str]

    @classmethod
    def of(cls, contracts: Path, file: str) -> Self:
        """Read it from the artifact of the contract named like the file."""
        contract = Path(file).stem
        metadata = json.loads((contracts / artifact_of(file)).read_text())["metadata"]
        settings = {name: value for name, value in metadata["settings"].items() if name != "compilationTarget"}
        sources = {source: (contracts / source).read_text() for source in metadata["sources"]}
        version = metadata["compiler"]["version"]
        return cls(file=file, contract=contract, compiler=version, settings=settings, sources=sources)

    def standard_json(self, changed: Mapping[str, str]) -> str:
        """Return the input as JSON, with the content of some files replaced."""
        selection = {self.file: {self.contract: ["evm.bytecode.object", "evm.deployedBytecode.object"]}}
        sources = {name: {"content": content} for name, content in {**self.sources, **changed}.items()}
        settings = {**self.settings, "outputSelection": selection}
        return json.dumps({"language": "Solidity", "sources": sources, "settings": settings})


def artifact_of(file: str) -> Path:
    """Return where forge writes the contract named like the file, relative to contracts/."""
    path = Path(file)
    return Path("out", path.name, f"{path.stem}.json")


class Compiler:
    """One solc process; not thread-safe."""

    def __init__(self, contracts: Path) -> None:
        self._argv = ["node", str(contracts / "bin" / "compile-lines.cjs")]
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._input, self._output = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)

    def close(self) -> None:
        """Close the process's input, which ends it."""
        self._process.communicate()

    def compile(self, build: Build, changed: Mapping[str, str]) -> Code | None:
        """Compile the contract of a build with some sources replaced; None if they do not compile."""
        self._input.write(build.standard_json(changed) + "\n")
        self._input.flush()
        output = self._output.readline()
        if not output:  # the compiler crashed on the source
            self.close()
            self._start()
            return None
        return _code(json.loads(output), build)


def _code(output: Mapping[str, Any], build: Build) -> Code | None:
    if any(each["severity"] == "error" for each in output.get("errors", ())):
        return None
    evm = output["contracts"][build.file][build.contract]["evm"]
    return Code(creation=evm["bytecode"]["object"], deployed=evm["deployedBytecode"]["object"])
