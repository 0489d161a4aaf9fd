"""An explorer with Blockscout's interface, in a process of its own, so that its CPU is not that of the service.

``python -m lab.bench.build.explorer FILE`` reads the addresses of tokens from a file, one on each line, says of any
wallet that it holds them, and prints its URL. It ends with its parent.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Thread
from urllib.parse import parse_qs, urlsplit

PAGE_TOKENS = 50


@contextmanager
def running(tokens: Sequence[str]) -> Iterator[str]:
    """Serve an explorer that names these tokens; yields its URL."""
    with NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write("\n".join(tokens))
        file.flush()
        command = [sys.executable, "-m", "lab.bench.build.explorer", file.name]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield "" if process.stdout is None else process.stdout.readline().strip()
            finally:
                process.terminate()


def _pages(tokens: Sequence[str]) -> dict[str, bytes]:
    """Return the body of each page by the id that leads to it."""
    pages = {}
    for start in range(0, len(tokens), PAGE_TOKENS):
        end = start + PAGE_TOKENS
        following = {"fiat_value": None, "id": end, "value": "1"} if end < len(tokens) else None
        items = [_item(token) for token in tokens[start:end]]
        pages[str(start)] = json.dumps({"items": items, "next_page_params": following}).encode()
    return pages


def _item(token: str) -> dict[str, object]:
    facts = {"address_hash": token, "type": "ERC-20", "name": "A token", "symbol": "TOKEN", "decimals": "18"}
    return {"value": "1", "token": facts, "token_id": None, "token_instance": None}


def _serve(pages: dict[str, bytes]) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = pages[parse_qs(urlsplit(self.path).query).get("id", ["0"])[0]]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}/api/v2\n")
        sys.stdout.flush()
        sys.stdin.read()  # until the parent ends


if __name__ == "__main__":
    _serve(_pages(Path(sys.argv[1]).read_text(encoding="utf-8").split()))
