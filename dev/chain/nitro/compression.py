"""Compresses bytes as ArbOS does to charge for them: Brotli at level 1, here by the Node.js that builds the contracts.

The Python package would do the same; but once it is installed, every HTTP client of the tests asks servers for Brotli.
"""

import atexit
import subprocess
from functools import cache
from threading import Lock

from dev.node import node_folder

LEVEL, WINDOW_BITS = 1, 22
_SCRIPT = f"""
const zlib = require("node:zlib");
const {{ BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window }} = zlib.constants;
require("node:readline").createInterface({{ input: process.stdin }}).on("line", (line) => {{
  const params = {{ [quality]: {LEVEL}, [window]: {WINDOW_BITS} }};
  console.log(zlib.brotliCompressSync(Buffer.from(line, "hex"), {{ params }}).length);
}});
"""


class _Compressor:
    """A process that reads bytes as lines of hex, and prints how long they are when compressed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process = subprocess.Popen(
            [str(node_folder() / "node"), "--eval", _SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        atexit.register(self._process.communicate)  # ends its input, and with it the process

    def size(self, data: bytes) -> int:
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise ValueError("the compressor has no pipes")
        with self._lock:
            process.stdin.write(f"{data.hex()}\n")
            return int(process.stdout.readline())


@cache
def _compressor() -> _Compressor:
    """Return the compressor of this process, which ends with it."""
    return _Compressor()


def compressed_size(data: bytes) -> int:
    """Return the length of these bytes when they are compressed."""
    return _compressor().size(data)
