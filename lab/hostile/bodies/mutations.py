"""Changes of a body that make it wrong, each up to as many bytes as a body may have."""

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

MAX_BYTES = 256 * 1024
_ROOM = MAX_BYTES - 64 * 1024  # for one value, beside the rest of the body
_FLIPPED = b'"\\{}[],:0-e\xff\x00 a'

Mutation = tuple[str, bytes]
_Place = tuple[str | int, ...]
_Making = tuple[str, Callable[[], bytes]]


def mutations(body: dict[str, Any], *, count: int, seed: int) -> Iterator[Mutation]:
    """Yield that many mutations of a body with their names, drawn from all; each is made when it is its turn."""
    chance = random.Random(seed)  # noqa: S311 no secret
    made = list(_all(body, chance))
    for name, make in chance.sample(made, min(count, len(made))):
        yield name, make()


def _all(body: dict[str, Any], chance: random.Random) -> Iterator[_Making]:
    places = list(_places(body))
    for place in places:
        at = ".".join(map(str, place)) or "the body"
        value = _at(body, place)
        for name, make in _wrong_values().items():
            yield f"{at}: {name}", partial(_with_text, body, place, make)
            if isinstance(value, dict):
                yield f"{at}: an unknown name, {name}", partial(_with_text, body, (*place, "x"), make)
        for count in (1, 32, 33, 1_000, 25_000):
            if isinstance(value, dict):
                yield f"{at}: {count} unknown names", partial(_with_text, body, place, partial(_unknown, value, count))
                yield f"{at}: {count} forbidden", partial(_with_text, body, place, partial(_forbidden, value, count))
            if isinstance(value, list) and value:
                yield (
                    f"{at}: {count} times as long",
                    partial(_with_text, body, place, partial(_longer, value, count, [])),
                )
                yield (
                    f"{at}: as long, then wrong",
                    partial(_with_text, body, place, partial(_longer, value, count, [1])),
                )
    for name, raw in _of_bytes(json.dumps(body).encode(), chance):
        yield name, partial(bytes, raw)


def _unknown(value: dict[str, Any], count: int) -> str:
    return json.dumps({f"n{number}": number for number in range(count)} | value)


def _forbidden(value: dict[str, Any], count: int) -> str:
    return json.dumps(value | {"x": [{"feeBps": 1}] * count})


def _longer(value: list[Any], count: int, then: list[Any]) -> str:
    """Return the list that many times, up to what a body may have."""
    times = max(1, min(count, _ROOM // len(json.dumps(value))))
    return json.dumps([*(value * times)[: len(value) * times - len(then)], *then])


def _wrong_values() -> dict[str, Callable[[], str]]:
    """Return by a name what makes JSON that no field takes."""
    long = _ROOM
    return {
        "null": lambda: "null",
        "true": lambda: "true",
        "number": lambda: "-1.5",
        "nothing": lambda: '""',
        "many digits": lambda: "9" * long,
        "many decimals": lambda: "0." + "9" * long,
        "long text": lambda: f'"{"x" * long}"',
        "long hex": lambda: f'"0x{"a" * long}"',
        "long base58": lambda: f'"{"2" * long}"',
        "long URL": lambda: f'"https://{"a." * (long // 2)}"',
        "long digits": lambda: f'"{"9" * long}"',
        "other script": lambda: f'"{"é" * (long // 2)}"',
        "escapes": lambda: '"' + "\\u00e9" * (long // 6) + '"',
        "line feeds": lambda: '"' + "\\n" * (long // 2) + '"',
        "surrogate at the end": lambda: '"' + "x" * (long - 10) + '\\ud800"',
        "list of words": lambda: "[" + ",".join(['"x"'] * (long // 4)) + "]",
        "list of numbers": lambda: "[" + ",".join("1" * (long // 2)) + "]",
        "list of lists": lambda: "[" + ",".join(["[]"] * (long // 3)) + "]",
        "list of objects": lambda: "[" + ",".join(["{}"] * (long // 3)) + "]",
        "object": lambda: "{" + ",".join(f'"{i}":1' for i in range(long // 9)) + "}",
        "objects of one member": lambda: "[" + ",".join(['{"a":1}'] * (long // 8)) + "]",
        "repeated name": lambda: "{" + ",".join(['"a":1'] * (long // 6)) + "}",
        "deep list": lambda: "[" * long,
        "deep object": lambda: '{"a":' * (long // 5),
        "as deep as allowed": lambda: ",".join(["[" * 12 + "1" + "]" * 12] * (long // 26)).join("[]"),
    }


def _of_bytes(raw: bytes, chance: random.Random) -> Iterator[Mutation]:
    yield "nothing", b""
    yield "white space", b" " * MAX_BYTES
    yield "white space behind", raw + b" " * (MAX_BYTES - len(raw) - 1) + b"x"
    yield "byte-order mark", b"\xef\xbb\xbf" + raw
    yield "too long", raw + b" " * MAX_BYTES
    yield "not UTF-8", b"\xff" * MAX_BYTES
    yield "quotes", b'"' * MAX_BYTES
    yield "not UTF-8 at the end", raw[:-1] + b',"x":"' + b"x" * (MAX_BYTES - len(raw) - 20) + b'\xff"}'
    for tenth in range(10):
        yield f"cut at {tenth}0 %", raw[: len(raw) * tenth // 10]
    for number in range(150):
        at = chance.randrange(len(raw))
        yield f"flip {number}", raw[:at] + bytes([chance.choice(_FLIPPED)]) + raw[at + 1 :]


def _places(value: Any, path: _Place = ()) -> Iterator[_Place]:  # noqa: ANN401 JSON
    """Yield the path of every value, itself included; of a list only those of its first and last item."""
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _places(inner, (*path, name))
    if isinstance(value, list) and value:
        for index in {0, len(value) - 1}:
            yield from _places(value[index], (*path, index))


def _at(body: Any, place: _Place) -> Any:  # noqa: ANN401 JSON
    for step in place:
        body = body[step]
    return body


def _with_text(body: dict[str, Any], place: _Place, make: Callable[[], str]) -> bytes:
    """Return the body with this JSON, right or wrong, at a place, and cut to what a body may have."""
    if not place:
        return make().encode()[:MAX_BYTES]
    changed = json.loads(json.dumps(body))  # a copy, in a tenth of the time of deepcopy
    _at(changed, place[:-1])[place[-1]] = mark = "\x00here\x00"
    return json.dumps(changed).replace(json.dumps(mark), make()).encode()[:MAX_BYTES]
