"""Real tokens: those of the list that the service believes, and of two others, which the Makefile fetches."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.pinned import token_list

PACKAGES = Path(__file__).parent / "lists" / "node_modules"


@dataclass(frozen=True)
class RealToken:
    """A token as a list has it."""

    chain_id: int
    address: str
    symbol: str
    name: str


def _uniswap() -> Iterator[RealToken]:
    return _of(token_list.published())


def _sushi() -> Iterator[RealToken]:
    return _of(_json("@sushiswap/default-token-list/build/sushiswap-default.tokenlist.json"))


def _metamask() -> Iterator[RealToken]:
    for address, known in _json("@metamask/contract-metadata/contract-map.json").items():
        if known.get("erc20"):
            yield RealToken(1, address.lower(), known["symbol"], known["name"])


def _of(published: Mapping[str, Any]) -> Iterator[RealToken]:
    for one in published["tokens"]:
        yield RealToken(one["chainId"], one["address"].lower(), one["symbol"], one["name"])


def _json(file: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((PACKAGES / file).read_text(encoding="utf-8"))
    return content


LISTS: Mapping[str, Callable[[], Iterator[RealToken]]] = {"Uniswap": _uniswap, "MetaMask": _metamask, "Sushi": _sushi}
