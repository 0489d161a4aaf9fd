"""A node of the laboratory's chain that lies about some transactions, and is honest about all others."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from lab.bench.sweeps.chain import Chain, calls_of
from lab.matrix.changes import Changes, Part, Refusal
from lab.matrix.told import Told
from sweepapi.evm.chain.multicall import BLOCK_TIMESTAMP

OK = 200
_TAGS = {"latest": Part.HEAD, "safe": Part.SAFE, "finalized": Part.FINAL}
_WORD_DIGITS = 64


@dataclass(frozen=True)
class Lie:
    """What a node says of one transaction."""

    told: Told
    changes: Changes

    def is_about(self, batch: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a batch asks about the transaction, its block or its nonce."""
        return any(self._concerns(call["method"], call["params"]) for call in batch)

    def _concerns(self, method: str, params: Sequence[Any]) -> bool:
        told = self.told
        match method:
            case "eth_getTransactionReceipt":
                return bool(params[0] == told.tx_hash)
            case "eth_getBlockByNumber":
                return bool(params[0] == hex(told.height))
            case "eth_getLogs":
                first, last = params[0]["fromBlock"], params[0]["toBlock"]
                return int(first, 16) <= told.height and (last == "latest" or told.height <= int(last, 16))
            case "eth_call":
                return told.nonce[2:] in params[0]["data"]
        return False

    def tell(self, call: Mapping[str, Any], response: dict[str, Any]) -> dict[str, Any]:
        """Return what the node answers to a call of a batch about the transaction."""
        method, params = call["method"], call["params"]
        if "result" not in response:
            return response
        result = response["result"]
        for part, change in self.changes.items():
            if isinstance(result, Refusal):
                break
            if part is self._part(method, params):
                result = change(result, self.told)
            elif part is Part.LOGS and method == "eth_getLogs" and self._concerns(method, params):
                ours = [log for log in result if log["transactionHash"] == self.told.tx_hash]
                others = [log for log in result if log not in ours]
                result = [*others, *change(ours, self.told)]
            elif part in (Part.USED, Part.SAFE_TIME) and method == "eth_call":
                result = self._read(part, params, result)
        if isinstance(result, Refusal):
            return {"jsonrpc": "2.0", "id": call["id"], "error": {"code": result.code, "message": result.message}}
        return response | {"result": result}

    def _part(self, method: str, params: Sequence[Any]) -> Part | None:
        """Return which answer this is, where it is changed as a whole."""
        if method == "eth_getBlockByNumber" and params[0] in _TAGS:
            return _TAGS[params[0]]
        if not self._concerns(method, params):
            return None
        return {
            "eth_getTransactionReceipt": Part.RECEIPT,
            "eth_getBlockByNumber": Part.BLOCK,
            "eth_getLogs": Part.QUERY,
            "eth_call": Part.CALL,
        }.get(method)

    def _read(self, part: Part, params: Sequence[Any], result: str) -> str:
        """Change what a read of a multicall returned."""
        if part is Part.SAFE_TIME and params[1] != "safe":
            return result
        calls = list(calls_of(params[0]["data"]))
        words = [result[start : start + _WORD_DIGITS] for start in range(2, len(result), _WORD_DIGITS)]
        for position, call in enumerate(calls):
            is_time = call.startswith(BLOCK_TIMESTAMP.selector.hex())
            if (part is Part.SAFE_TIME and is_time) or (part is Part.USED and call.endswith(self.told.nonce[2:])):
                value = 2 + len(calls) + 4 * position + 3  # as ``chain`` packs results of one word
                words[value] = f"{self.changes[part](int(words[value], 16), self.told):064x}"
        return "0x" + "".join(words)


@dataclass
class LyingNode:
    """The node: the chain that it shows, and what it says otherwise."""

    chain: Chain
    is_liar: bool
    lies: Sequence[Lie] = ()

    def answer(self, asked: Sequence[Mapping[str, Any]] | Mapping[str, Any]) -> tuple[int, bytes]:
        """Return HTTP status and body; what is asked is a batch or, of a node whose batches failed, one call."""
        batch = [asked] if isinstance(asked, Mapping) else asked
        about = [lie for lie in self.lies if lie.is_about(batch)]
        responses = []
        for call in batch:
            response = json.loads(self.chain.answer(call))
            for lie in about:
                response = lie.tell(call, response)
            responses.append(response)
        for lie in about:
            if Part.ANSWER in lie.changes:
                status, body = lie.changes[Part.ANSWER](responses, lie.told)
                return status, body
        return OK, json.dumps(responses[0] if asked is not batch else responses).encode()


@contextmanager
def serving(nodes: Sequence[LyingNode]) -> Iterator[Sequence[str]]:
    """Serve nodes on a free port; yields the URL of each."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, body = nodes[int(self.path[1:])].answer(asked)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield [f"http://127.0.0.1:{server.server_address[1]}/{number}" for number in range(len(nodes))]
        server.shutdown()
