"""Serves the benchmarks' chain: ``python -m lab.bench.sweeps.server PORT FACTS_JSON``.

It is a process of its own, so that its work is not the service's. ``/control`` takes the benchmarks' own requests,
which do not count.
"""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.engines.anvil import CHAIN_ID
from lab.bench.sweeps.chain import BLOCK_SECONDS, FIRST_HEAD, Chain
from lab.bench.sweeps.receipts import Original

MAX_HEAD_BYTES = 2**16
_CONTENT_LENGTH = b"content-length:"
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


@dataclass
class Server:
    """Answers JSON-RPC batches, and counts the requests."""

    chain: Chain
    requests: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it closes."""
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                writer.close()
                return
            (length,) = (line for line in head.lower().split(b"\r\n") if line.startswith(_CONTENT_LENGTH))
            asked = json.loads(await reader.readexactly(int(length[len(_CONTENT_LENGTH) :])))
            is_control = head.startswith(b"POST /control ")
            body = json.dumps(self._control(**asked)).encode() if is_control else self._answer(asked)
            writer.write(_HEAD % len(body) + body)
            await writer.drain()

    def _answer(self, batch: list[dict[str, Any]]) -> bytes:
        self.requests += 1
        return b"[%s]" % b",".join(map(self.chain.answer, batch))

    def _control(
        self, *, clear: bool = False, execute: tuple[int, int, int] | None = None, final: int | None = None
    ) -> dict[str, Any]:
        if clear:
            self.chain.clear()
        if execute is not None:
            self.chain.execute(*execute)
        if final is not None:
            self.chain.final = final
        started = self.chain.started - BLOCK_SECONDS * FIRST_HEAD
        return {"requests": self.requests, "head": self.chain.head, "genesis": started}


async def main(port: int, facts: dict[str, Any]) -> None:
    """Serve until the process is stopped."""
    chain = Chain(CHAIN_ID, Original.of(facts["receipt"], facts["nonce"]))
    server = await asyncio.start_server(Server(chain).serve, "127.0.0.1", port, limit=MAX_HEAD_BYTES)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))))
