"""Makes the requests of the documentation's curl commands, on a machine that has no curl."""

import sys
from collections.abc import Sequence
from urllib.request import Request, urlopen


def main(arguments: Sequence[str]) -> None:
    """Send a POST; ``--header`` and ``--data`` have a value, ``--silent`` and ``--show-error`` none."""
    given = iter(arguments)
    headers: dict[str, str] = {}
    url, data = "", b""
    for argument in given:
        if argument == "--header":
            name, _, value = next(given).partition(": ")
            headers[name] = value
        elif argument == "--data":
            data = next(given).encode()
        elif argument not in ("--silent", "--show-error"):
            url = argument
    with urlopen(Request(url, data, headers)) as response:  # noqa: S310 - the URLs are local
        sys.stdout.buffer.write(response.read())


if __name__ == "__main__":
    main(sys.argv[1:])
