"""Makes the requests of the documentation's curl commands, on a machine that has no curl."""

import argparse
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def main() -> None:
    """Send a request, and print what is answered, as curl does with those of its options that the pages use."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("url")
    parser.add_argument("--header", action="append", default=[])
    parser.add_argument("--data")
    parser.add_argument("--json")
    parser.add_argument("--request")
    parser.add_argument("--retry")  # the local service need not be asked again
    for switch in ("--silent", "--show-error"):
        parser.add_argument(switch, action="store_true")
    given = parser.parse_args()
    content = given.json or given.data
    headers = {"Content-Type": "application/json"} if given.json else {}
    headers |= dict(header.split(": ", 1) for header in given.header)
    request = Request(given.url, content and _content(content), headers, method=given.request)  # noqa: S310 - it is local
    try:
        with urlopen(request) as response:  # noqa: S310
            answer = response.read()
    except HTTPError as refused:
        answer = refused.read()
    sys.stdout.buffer.write(answer)


def _content(given: str) -> bytes:
    """Return what ``--data`` and ``--json`` send: a text, or what is in a file or the input."""
    if given == "@-":
        return sys.stdin.buffer.read()
    return Path(given[1:]).read_bytes() if given.startswith("@") else given.encode()


if __name__ == "__main__":
    main()
