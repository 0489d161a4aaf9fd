"""The requests that the sections send, as the bytes of HTTP."""

import json
from typing import Any

from lab.bench.api.connections import HOST, Request


class Traffic:
    """Makes requests with one API key."""

    def __init__(self, api_key: str) -> None:
        self._head = f"Host: {HOST}\r\nx-api-key: {api_key}\r\nAccept: application/json\r\n"

    def get(self, kind: str, path: str) -> Request:
        return Request(kind, f"GET {path} HTTP/1.1\r\n{self._head}\r\n".encode())

    def post(self, kind: str, path: str, body: dict[str, Any], **facts: Any) -> Request:  # noqa: ANN401 - of a Request
        text = json.dumps(body)
        head = f"POST {path} HTTP/1.1\r\n{self._head}Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        return Request(kind, f"{head}\r\n{text}".encode(), **facts)

    def bare(self, sweep_id: object) -> Request:
        return self.get("bare view", f"/v2/bare/{sweep_id}")

    def status(self, sweep_id: object) -> Request:
        return self.get("status", f"/v2/sweep/status/{sweep_id}")

    def confirm(self, kind: str, sweep_id: object, tx_hash: str) -> Request:
        return self.post(kind, f"/v2/sweep/status/{sweep_id}/confirm", {"txHash": tx_hash})
