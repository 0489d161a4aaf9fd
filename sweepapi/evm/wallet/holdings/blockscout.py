"""Blockscout's ``GET /addresses/{address_hash}/tokens``: the ERC-20 tokens of a wallet, the most valuable ones first.

Source: Blockscout's OpenAPI document (blockscout/docs, ``pro-api-v12.json``), and its ``paging_options``, which begin
again unless every member of ``next_page_params`` is sent, a null as the word.
"""

import re
from typing import Any

from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.encoding import responses
from sweepapi.evm.wallet.holdings.outside import MAX_PAGE_BYTES, MAX_PAGE_TOKENS, ServicePage, parsed
from sweepapi.evm.wallet.holdings.sources import Position
from sweepapi.rpc.errors import BadResponseError
from sweepapi.rpc.transport import Endpoint

KIND = "ERC-20"
MAX_PARAMETERS, MAX_CHARACTERS = 8, 100
# Releases before v12 echo the parameters of the request among those of the next page, with the key.
ECHOED = frozenset({"apikey", "key", "type"})
_NAME = re.compile(r"[a-z_]{1,32}")


class Blockscout:
    """The service of one chain; its URL ends with ``/api/v2``. The key goes into a header and no further."""

    name = HoldingsSource.BLOCKSCOUT

    def __init__(self, *, url: str, key: str, chain_name: str) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._chain_name = chain_name
        self._endpoint = Endpoint(url=url, name=repr(self), headers=headers)

    def __repr__(self) -> str:
        return f"<{self.name} of {self._chain_name}>"

    def page(self, wallet: str, position: Position, seconds: float) -> ServicePage:
        """Read a page; the position is the ``next_page_params`` of the one before."""
        query = {"type": KIND, **(position or {})}
        body = self._endpoint.get(f"/addresses/{wallet}/tokens", query, seconds, max_bytes=MAX_PAGE_BYTES)
        answer = parsed(body)
        items, following = (answer.get("items"), answer.get("next_page_params")) if isinstance(answer, dict) else (0, 0)
        if not isinstance(items, list) or len(items) > MAX_PAGE_TOKENS:
            raise BadResponseError("expected a page of token balances")
        return ServicePage(
            [responses.address(token["address_hash"]) for token in map(_token, items) if token["type"] == KIND],
            None if following is None else _parameters(following),
        )


def _token(balance: object) -> dict[str, Any]:
    token = balance.get("token") if isinstance(balance, dict) else None
    if not isinstance(token, dict):
        raise BadResponseError("expected the token of a balance")
    return {"type": token.get("type"), "address_hash": token.get("address_hash")}


def _parameters(following: object) -> dict[str, str]:
    """Return the parameters of the next page as text."""
    if not isinstance(following, dict) or len(following) > MAX_PARAMETERS:
        raise BadResponseError("expected the parameters of a page")
    return {name: _text(name, value) for name, value in following.items() if name not in ECHOED}


def _text(name: str, value: object) -> str:
    text = "null" if value is None else str(value)
    is_plain = value is None or type(value) in (str, int, float)
    if not is_plain or len(text) > MAX_CHARACTERS or not _NAME.fullmatch(name):
        raise BadResponseError("expected a parameter of a page")
    return text
