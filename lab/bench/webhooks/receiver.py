"""Serves the partners' endpoints: ``python -m lab.bench.webhooks.receiver PORT CERTIFICATE_PEM``.

It is a process of its own, so that its work is not that of the process that delivers. Every path answers 204 over TLS,
except ``/hang``, which never answers.
"""

import asyncio
import ssl
import sys

_LENGTH = b"content-length:"
_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request, as the process that delivers makes only one on a connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = (line for line in head.lower().split(b"\r\n") if line.startswith(_LENGTH))
        await reader.readexactly(int(length[len(_LENGTH) :]))
        if head.startswith(b"POST /hang"):
            await reader.read()
        writer.write(_ANSWER)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()


async def main(port: int, certificate: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(serve, "127.0.0.1", port, ssl=context, backlog=1_024)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
