"""Looks at the service from outside, as a partner does, and calls a heartbeat only if all is well.

Run it each minute from another network, with nothing but Python:

    python probe.py https://api.example.com --heartbeat https://heartbeat.example.com/key

It asks for the status of /v2, and of /v1 if that is offered. It exits with 1 and says on one line what is wrong: no
answer within five seconds, another status than 200, no network that is available, or a certificate that ends soon.
Then it calls no heartbeat, and the service that waits for it wakes someone.
"""

import argparse
import json
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from urllib.parse import urlsplit
from urllib.request import urlopen

SECONDS = 5
CERTIFICATE_DAYS = 14
PATHS = ("/v2/status", "/v1/status")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("url", help="of the API, without a path")
    parser.add_argument("--heartbeat", help="what to call if all is well")
    given = parser.parse_args()
    problems = list(find_problems(given.url.rstrip("/")))
    if problems:
        print("; ".join(problems))
        return 1
    if given.heartbeat:
        with urlopen(given.heartbeat, timeout=SECONDS):
            pass
    return 0


def find_problems(url: str) -> Iterator[str]:
    """Yield what is wrong, as sentences without their ends."""
    for path in PATHS:
        try:
            with urlopen(url + path, timeout=SECONDS) as answer:
                status = json.load(answer)["data"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            yield f"{path}: {type(error).__name__}: {error}"
            continue
        offered = status["chains"]
        if path == PATHS[0] and not offered:
            yield f"{path}: no chain is offered"
        yield from (f"{path}: {chain['name']} is unavailable" for chain in offered if not chain["available"])
    if urlsplit(url).scheme == "https":
        yield from _certificate_problems(urlsplit(url).hostname or "", urlsplit(url).port or 443)


def _certificate_problems(host: str, port: int) -> Iterator[str]:
    try:
        with (
            socket.create_connection((host, port), timeout=SECONDS) as connection,
            ssl.create_default_context().wrap_socket(connection, server_hostname=host) as wrapped,
        ):
            certificate = wrapped.getpeercert() or {}
    except OSError as error:
        yield f"TLS: {error}"
        return
    days = (ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()) / 86_400
    if days < CERTIFICATE_DAYS:
        yield f"the certificate ends in {days:.0f} days"


if __name__ == "__main__":
    sys.exit(main())
