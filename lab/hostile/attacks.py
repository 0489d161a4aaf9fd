"""What is done to the service meanwhile, in a process of its own and from addresses of its own."""

import asyncio
import itertools
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

ADDRESSES = [f"127.0.0.{last}" for last in range(2, 34)]
# As many as a key's limits let through: 100 a second for what is limited as a read.
REFUSED_BODIES_A_SECOND, BODY_SENDERS = 100, 32
TYPES = 60_000
QUOTES, PARTIAL_HEADS, STALLED_BODIES, OPENAPI_READERS = 20, 500, 100, 8
_BEAT_SECONDS = 0.2


@dataclass(frozen=True)
class Attack:
    """A name, and what each of so many callers sends again and again, and whether it waits for answers."""

    name: str
    callers: int
    sent: bytes
    waits: bool
    pause_seconds: float = 0.0


def attacks(api_key: str, quote: dict[str, object]) -> Sequence[Attack]:
    refused = _post("/v2/webhooks", api_key, {"url": "https://example.com/", "types": ["x"] * TYPES})
    head = b"POST /v2/sweep/build HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    stalled = _post("/v2/sweep/build", api_key, quote)[:-1]
    document = b"GET /v2/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    pause = BODY_SENDERS / REFUSED_BODIES_A_SECOND
    return [
        Attack("refused bodies at a key's limits", BODY_SENDERS, refused, waits=True, pause_seconds=pause),
        Attack("a hanging provider and 20 quotes", QUOTES, _post("/v2/sweep/quote", api_key, quote), waits=True),
        Attack("500 sockets with partial heads", PARTIAL_HEADS, head, waits=False),
        Attack("100 stalled bodies", STALLED_BODIES, stalled, waits=False),
        Attack("8 readers of the OpenAPI document", OPENAPI_READERS, document, waits=True),
    ]


@contextmanager
def under(attack: Attack, port: int) -> Iterator[None]:
    """Attack this port within the block, once all callers have begun."""
    context = multiprocessing.get_context("spawn")
    has_begun = context.Event()
    process = context.Process(target=_run, args=(attack, port, has_begun), daemon=True)
    process.start()
    has_begun.wait()
    yield
    process.kill()
    process.join()


def _post(path: str, api_key: str, body: dict[str, object]) -> bytes:
    text = json.dumps(body, separators=(",", ":"))  # within the bound of bodies
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: {api_key}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(text)}\r\n\r\n{text}".encode()


def _run(attack: Attack, port: int, has_begun: object) -> None:
    asyncio.run(_attack(attack, port, has_begun.set))  # type: ignore[attr-defined]  # an event of multiprocessing


async def _attack(attack: Attack, port: int, begun: Callable[[], object]) -> None:
    addresses = itertools.cycle(ADDRESSES)
    callers = [_call(attack, port, next(addresses)) for _ in range(attack.callers)]
    running = [asyncio.create_task(caller) for caller in callers]
    await asyncio.sleep(_BEAT_SECONDS)
    begun()
    await asyncio.gather(*running)


async def _call(attack: Attack, port: int, address: str) -> None:
    connect = partial(asyncio.open_connection, "127.0.0.1", port, local_addr=(address, 0))
    while True:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError, ValueError):
            await _talk(attack, connect)
        await asyncio.sleep(_BEAT_SECONDS)


async def _talk(
    attack: Attack, connect: Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
) -> None:
    reader, writer = await connect()
    try:
        while True:
            due = time.monotonic() + attack.pause_seconds
            writer.write(attack.sent)
            await writer.drain()
            if not attack.waits:
                await reader.read()
                return
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = head.split(b"content-length:")[1].split(b"\r\n")[0]
            await reader.readexactly(int(length))
            await asyncio.sleep(max(due - time.monotonic(), 0))
    finally:
        writer.close()
