"""The providers of the chaos world: proxies of the local nodes, of which the fault drawer makes at most one bad.

``python -m lab.chaos.breaking.providers PORT=UPSTREAM…`` serves them all in one process. ``set_fault``
tells a proxy how to behave from then on.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Condition, Thread
from typing import Any

import requests

from lab.chaos.breaking.provider_faults import ALTERATIONS, BLOCK, TAGS, Alter, Call, as_of, behind, garbage
from lab.chaos.breaking.solana_lies import ALTERATIONS_ON_SOLANA

CONTROL_PATH = "/fault"
TIMEOUT_SECONDS, LONGEST_HANG_SECONDS, SLOW_SECONDS = 30, 60, 0.7
KINDS = ("hang", "slow", "lag", "limited", "broken", "refused", "garbage", *ALTERATIONS)
KINDS_ON_SOLANA = ("hang", "slow", "limited", "broken", "refused", "garbage", "null", *ALTERATIONS_ON_SOLANA)
_ALTERATIONS = {**ALTERATIONS, **ALTERATIONS_ON_SOLANA}


@dataclass(frozen=True)
class Fault:
    """How a provider behaves; a blank kind is a healthy one."""

    kind: str = ""
    blocks: int = 0  # how far it lags
    seed: int = 0


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes


ERRORS = {
    "limited": Response(429, b'{"error":"rate limit exceeded"}'),
    "broken": Response(503, b"<html>upstream connect error</html>"),
}


def set_fault(url: str, fault: Fault) -> None:
    """Have the provider behave like this until the next call."""
    requests.post(f"{url}{CONTROL_PATH}", json=asdict(fault), timeout=TIMEOUT_SECONDS).raise_for_status()


class Provider:
    """One proxy, and how it behaves now."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._fault, self._random = Fault(), Random()
        self._changed = Condition()

    def become(self, fault: Fault) -> None:
        with self._changed:
            self._fault, self._random = fault, Random(fault.seed)
            self._changed.notify_all()

    def respond(self, body: bytes, session: requests.Session) -> Response | None:
        """Return the answer to a request; None to close the connection without one."""
        fault = self._fault
        if fault.kind == "hang":
            with self._changed:
                self._changed.wait_for(lambda: self._fault is not fault, timeout=LONGEST_HANG_SECONDS)
        if fault.kind in ("hang", "refused"):
            return None
        if fault.kind in ERRORS:
            return ERRORS[fault.kind]
        if fault.kind == "garbage":
            return Response(200, garbage(body, self._random))
        if fault.kind == "slow":
            time.sleep(SLOW_SECONDS)
        if fault.kind == "lag" or fault.kind in _ALTERATIONS:
            return Response(200, self._altered(fault, json.loads(body), session))
        return Response(200, self._ask(body, session))

    def _altered(self, fault: Fault, asked: Any, session: requests.Session) -> bytes:  # noqa: ANN401 - JSON
        calls: list[Call] = asked if isinstance(asked, list) else [asked]
        alter = _ALTERATIONS.get(fault.kind)
        if alter is None:
            calls, alter = self._late(calls, fault.blocks, session)
        answers = {answer["id"]: answer for answer in json.loads(self._ask(json.dumps(calls).encode(), session))}
        for call in calls:
            answer = answers[call["id"]]
            if "result" in answer:
                answer["result"] = alter(call, answer["result"])
        altered = list(answers.values())
        return json.dumps(altered if isinstance(asked, list) else altered[0]).encode()

    def _late(self, calls: list[Call], blocks: int, session: requests.Session) -> tuple[list[Call], Alter]:
        tags = [{"jsonrpc": "2.0", "id": tag, "method": BLOCK, "params": [tag, False]} for tag in TAGS]
        answers = json.loads(self._ask(json.dumps(tags).encode(), session))
        heads = {answer["id"]: int(answer["result"]["number"], 16) for answer in answers}
        return as_of(calls, heads, blocks), behind(max(heads["latest"] - blocks, 0))

    def _ask(self, body: bytes, session: requests.Session) -> bytes:
        headers = {"Content-Type": "application/json"}
        return session.post(self._upstream, data=body, headers=headers, timeout=TIMEOUT_SECONDS).content


def create_server(port: int, provider: Provider) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            self.session = requests.Session()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == CONTROL_PATH:
                provider.become(Fault(**json.loads(body)))
                response: Response | None = Response(200, b"{}")
            else:
                response = provider.respond(body, self.session)
            if response is None:
                self.close_connection = True
                return
            self.send_response(response.status)
            if response.status == 429:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_arguments: object) -> None:
            """Say nothing about clients that were killed."""

    return Server(("127.0.0.1", port), Handler)


def main(arguments: list[str]) -> None:
    threads = []
    for argument in arguments:
        port, _, upstream = argument.partition("=")
        server = create_server(int(port), Provider(upstream))
        threads.append(Thread(target=server.serve_forever))
        threads[-1].start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1:])
