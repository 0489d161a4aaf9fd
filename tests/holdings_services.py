"""Services that know the tokens of wallets: small servers with the published interfaces of Alchemy and Blockscout.

Every request to them is compared with the documents in ``vectors``, and so are their own answers to the first ones: the
others have the same shape, and to look at all of them would cost the time that is measured.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml
from jsonschema import Draft202012Validator

VECTORS = Path(__file__).parent / "vectors"
BLOCKSCOUT = yaml.safe_load((VECTORS / "blockscout.openapi.yaml").read_text(encoding="utf-8"))
TOKENS = BLOCKSCOUT["paths"]["/addresses/{address_hash_param}/tokens"]["get"]
ALCHEMY = yaml.safe_load((VECTORS / "alchemy_token_api.openrpc.yaml").read_text(encoding="utf-8"))["methods"][0]
BLOCKSCOUT_PAGE = 50
API = "/api/v2"
CHECKED_ANSWERS = 3
PARAMETERS = {one["name"]: Draft202012Validator({**BLOCKSCOUT, **one["schema"]}) for one in TOKENS["parameters"]}
PAGE = Draft202012Validator({**BLOCKSCOUT, **TOKENS["responses"]["200"]["content"]["application/json"]["schema"]})
ARGUMENTS = [Draft202012Validator(one["schema"]) for one in ALCHEMY["params"]]
RESULT = Draft202012Validator(ALCHEMY["result"]["schema"])

Answer = tuple[int, Any]  # status and JSON, or bytes


@dataclass
class HoldingsServer:
    """The tokens that it names of any wallet, and what was asked of it."""

    tokens: Sequence[str] = ()
    url: str = ""
    alter: Callable[[Answer], Answer] | None = None  # what the test wants it to answer instead
    asked: list[dict[str, Any]] = field(default_factory=list)  # options or query
    wallets: list[str] = field(default_factory=list)  # about which it was asked
    credentials: list[str | None] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # where requests and answers differ from the documents
    _may_answer: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._may_answer.set()

    @contextmanager
    def hung(self) -> Iterator[None]:
        """Accept requests, and answer them only after the `with` block."""
        self._may_answer.clear()
        try:
            yield
        finally:
            self._may_answer.set()

    def answer(self, path: str, headers: Message, body: bytes | None) -> Answer:
        """Return status and JSON for a request."""
        self._may_answer.wait()
        self.credentials.append(headers.get("Authorization"))
        given = self._answer_get(path) if body is None else self._answer_call(json.loads(body))
        return given if self.alter is None else self.alter(given)

    def _answer_get(self, target: str) -> Answer:
        path, query = urlsplit(target).path, dict(parse_qsl(urlsplit(target).query, keep_blank_values=True))
        self.asked.append(query)
        wallet = path.removeprefix(f"{API}/addresses/").removesuffix("/tokens")
        self.wallets.append(wallet)
        sent = {**query, "address_hash_param": wallet}
        self.problems += [f"{name} is not documented" for name in sent.keys() - PARAMETERS.keys()]
        self.problems += [f"{name} is missing" for name in ("address_hash_param", "type") if name not in sent]
        for name, value in sent.items():
            self.problems += differences(PARAMETERS[name], value)
        # As Blockscout: it begins again unless it is sent all of these.
        start = int(query["id"]) if {"fiat_value", "id", "value"} <= query.keys() else 0
        end = min(start + BLOCKSCOUT_PAGE, len(self.tokens))
        following = {"fiat_value": None, "id": end, "value": "1"} if end < len(self.tokens) else None
        page = {"items": [_balance(token) for token in self.tokens[start:end]], "next_page_params": following}
        if len(self.asked) <= CHECKED_ANSWERS:
            self.problems += differences(PAGE, page)
        return 200, page

    def _answer_call(self, call: Mapping[str, Any]) -> Answer:
        if call["method"] != ALCHEMY["name"]:
            self.problems.append(f"{call['method']} is not documented")
        for validator, value in zip(ARGUMENTS, call["params"], strict=True):
            self.problems += differences(validator, value)
        wallet, _, options = call["params"]
        self.asked.append(options)
        self.wallets.append(wallet)
        start = int(options.get("pageKey", "0"))
        end = min(start + options["maxCount"], len(self.tokens))
        result = {
            "address": wallet,
            "tokenBalances": [
                {"contractAddress": token.lower(), "tokenBalance": "0x" + "01".rjust(64, "0")}
                for token in self.tokens[start:end]
            ],
        }
        result |= {"pageKey": str(end)} if end < len(self.tokens) else {}
        if len(self.asked) <= CHECKED_ANSWERS:
            self.problems += differences(RESULT, result)
        return 200, {"jsonrpc": "2.0", "id": call["id"], "result": result}


def differences(validator: Draft202012Validator, value: object) -> list[str]:
    """Return where a value differs from a schema."""
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def _balance(token: str) -> dict[str, Any]:
    facts = dict.fromkeys(BLOCKSCOUT["components"]["schemas"]["Token"]["required"])
    named = {**facts, "address_hash": token, "symbol": "WHATEVER", "name": "Anything", "type": "ERC-20"}
    return {"value": "1", "token": named, "token_id": None, "token_instance": None}


@contextmanager
def serving(tokens: Sequence[str] = ()) -> Iterator[HoldingsServer]:
    """Serve one on a free port; fails at the end if a request, or an answer of its own, is undocumented."""
    fake = HoldingsServer(tokens)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # which would hold back the body for 40 ms

        def do_GET(self) -> None:
            self._respond(None)

        def do_POST(self) -> None:
            self._respond(self.rfile.read(int(self.headers["Content-Length"])))

        def _respond(self, asked: bytes | None) -> None:
            status, answer = fake.answer(self.path, self.headers, asked)
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # who asked may have gone
                self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        fake.url = f"http://127.0.0.1:{server.server_address[1]}{API}"
        yield fake
        server.shutdown()
    assert fake.problems == []
