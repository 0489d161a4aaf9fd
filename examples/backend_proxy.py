"""A thin back end between your web page and the partner API, so that the API key never leaves your server.

    SWEEP_API_URL=https://api.example SWEEP_API_KEY=swp_live_… python backend_proxy.py 8080

It needs only Python's standard library. Your page calls the paths below on this server, with its own login (replace
`is_logged_in`); the proxy adds the key and passes on nothing else of the page's request than its body and query.
"""

import os
import re
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 2 * 1024 * 1024  # what the API takes for a confirm, which is the most
TIMEOUT_SECONDS = 30
SWEEP_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# What a page may do. A page does not list all sweeps, cancel, or read the ledger: these are for your own people.
ALLOWED = {
    "GET": re.compile(rf"/v2/status|/v2/sweep/status/{SWEEP_ID}"),
    "POST": re.compile(
        rf"/v2/sweep/(?:discover|quote|build|build/{SWEEP_ID}/refresh|status/{SWEEP_ID}/(?:finalize|confirm))"
    ),
}
PASSED_BACK = ("Content-Type", "Retry-After", "X-Request-Id")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would take the key to another host."""

    def redirect_request(self, *_args: object, **_kwargs: object) -> None:
        return None


OPENER = urllib.request.build_opener(NoRedirects)


class Proxy(BaseHTTPRequestHandler):
    """Passes a request of the page to the API, and the answer back."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._pass_on(None)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,7}", length, re.ASCII) or int(length) > MAX_BODY_BYTES:
            self._answer(413, b"", close=True)
            return
        self._pass_on(self.rfile.read(int(length)))

    def is_logged_in(self) -> bool:
        """Replace this by your session check; without one, anyone builds sweeps with your key."""
        return True

    def _pass_on(self, body: bytes | None) -> None:
        if not self.is_logged_in():
            self._answer(401, b"")
            return
        if not ALLOWED[self.command].fullmatch(self.path.partition("?")[0]):
            self._answer(404, b"")
            return
        request = urllib.request.Request(
            os.environ["SWEEP_API_URL"].rstrip("/") + self.path,
            data=body,
            method=self.command,
            headers={"x-api-key": os.environ["SWEEP_API_KEY"], "Content-Type": "application/json"},
        )
        # What the page sent with these names makes a retry safe, and finds the request in both logs.
        for name in ("Idempotency-Key", "X-Request-Id"):
            if self.headers.get(name):
                request.add_header(name, self.headers[name])
        try:
            with OPENER.open(request, timeout=TIMEOUT_SECONDS) as response:
                self._answer(response.status, response.read(), dict(response.headers))
        except urllib.error.HTTPError as error:  # the API's own refusal, in its envelope
            self._answer(error.code, error.read(), dict(error.headers))
        except (urllib.error.URLError, TimeoutError):
            self._answer(502, b"")

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None, *, close: bool = False) -> None:
        self.send_response(status)
        for name in PASSED_BACK:
            if headers and name in headers:
                self.send_header(name, headers[name])
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if close:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Proxy).serve_forever()
