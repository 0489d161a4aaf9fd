"""A PostgreSQL that is farther away: forwards connections, and delays what clients send.

``python -m lab.bench.indexer.slow_database PORT UPSTREAM_PORT DELAY_SECONDS``
"""

import asyncio
import sys
from dataclasses import dataclass

CHUNK_BYTES = 2**16


@dataclass(frozen=True)
class Forwarder:
    """Delays each chunk by the same time, however many are on their way."""

    upstream_port: int
    delay_seconds: float

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection until either side closes it."""
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.upstream_port)
        sent, answered = self._delayed(reader, server_writer), _copy(server_reader, writer)
        await asyncio.gather(sent, answered, return_exceptions=True)

    async def _delayed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        while data := await reader.read(CHUNK_BYTES):
            loop.call_later(self.delay_seconds, writer.write, data)
        loop.call_later(self.delay_seconds, writer.close)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK_BYTES):
        writer.write(data)
        await writer.drain()
    writer.close()


async def main(port: int, upstream_port: int, delay_seconds: float) -> None:
    """Serve until the process is stopped."""
    server = await asyncio.start_server(Forwarder(upstream_port, delay_seconds).serve, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
