"""Compiles changed sources with the settings of a build, in a process that stays: solc takes long to load."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast


@dataclass(frozen=True)
class Code:
    """What the compiler makes of one contract, as hex without 0x."""

    creation: str
    deployed: str


@dataclass(frozen=True)
class Build:
    """How one contract was built: everything that its compiler was given."""

    file: str
    contract: str
    compiler: str  # its version
    settings: Mapping[str, Any]
    sources: Mapping[str, str]

    @classmethod
    def of(cls, contracts: Path, file: str) -> Self:
        """Read it from the artifact of the contract that the file is named for."""
        contract = Path(file).stem
        metadata = json.loads((contracts / artifact_of(file)).read_text())["metadata"]
        settings = {name: value for name, value in metadata["settings"].items() if name != "compilationTarget"}
        sources = {source: (contracts / source).read_text() for source in metadata["sources"]}
        version = metadata["compiler"]["version"]
        return cls(file=file, contract=contract, compiler=version, settings=settings, sources=sources)

    def standard_json(self, changed: Mapping[str, str]) -> str:
        """Return the compiler's input, with the content of some files changed."""
        selection = {self.file: {self.contract: ["evm.bytecode.object", "evm.deployedBytecode.object"]}}
        sources = {name: {"content": content} for name, content in {**self.sources, **changed}.items()}
        settings = {**self.settings, "outputSelection": selection}
        return json.dumps({"language": "Solidity", "sources": sources, "settings": settings})


def artifact_of(file: str) -> Path:
    """Where forge writes the contract that a file is named for, relative to contracts/."""
    path = Path(file)
    return Path("out", path.name, f"{path.stem}.json")


class Compiler:
    """One solc, for one thread at a time."""

    def __init__(self, contracts: Path) -> None:
        self._argv = ["node", str(contracts / "bin" / "compile-lines.cjs")]
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._input, self._output = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)

    def close(self) -> None:
        """End the process, which ends with its input."""
        self._process.communicate()

    def compile(self, build: Build, changed: Mapping[str, str]) -> Code | None:
        """Compile the contract of a build with some sources changed; None if the compiler refuses them."""
        self._input.write(build.standard_json(changed) + "\n")
        self._input.flush()
        answer = self._output.readline()
        if not answer:  # it fell over the source, which is a refusal, too
            self.close()
            self._start()
            return None
        return _code(json.loads(answer), build)


def _code(output: Mapping[str, Any], build: Build) -> Code | None:
    if any(each["severity"] == "error" for each in output.get("errors", ())):
        return None
    evm = output["contracts"][build.file][build.contract]["evm"]
    return Code(creation=evm["bytecode"]["object"], deployed=evm["deployedBytecode"]["object"])
