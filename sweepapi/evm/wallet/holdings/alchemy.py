"""Alchemy's ``alchemy_getTokenBalances``, which other providers offer, too: the ERC-20 tokens that a wallet ever had.

Source: Alchemy's OpenRPC document of its Token API (alchemyplatform/docs, ``token-api.yaml``); that the result has a
``pageKey`` is on the page of the method only.
"""

from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.encoding import responses
from sweepapi.evm.wallet.holdings.outside import MAX_PAGE_BYTES, MAX_PAGE_TOKENS, ServicePage, parsed
from sweepapi.evm.wallet.holdings.sources import Position
from sweepapi.rpc import Call, batches
from sweepapi.rpc.calls import read
from sweepapi.rpc.errors import BadResponseError, ThrottledError
from sweepapi.rpc.throttling import is_throttling_error
from sweepapi.rpc.transport import Endpoint

PAGE_SIZE = 100  # the most that Alchemy takes
MAX_KEY_CHARACTERS = 512


class Alchemy:
    """The service of one chain. Its URL contains the key, so neither leaves the endpoint."""

    name = HoldingsSource.ALCHEMY

    def __init__(self, *, url: str, chain_name: str) -> None:
        self._chain_name = chain_name
        self._endpoint = Endpoint(url=url, name=repr(self))

    def __repr__(self) -> str:
        return f"<{self.name} of {self._chain_name}>"

    def page(self, wallet: str, position: Position, seconds: float) -> ServicePage:
        """Read a page; the position is the ``pageKey`` of the one before."""
        options = {"maxCount": PAGE_SIZE} | ({} if position is None else {"pageKey": position})
        call = Call("alchemy_getTokenBalances", (wallet, "erc20", options), _page)
        body = self._endpoint.post(batches.encoded_alone(call), seconds, max_bytes=MAX_PAGE_BYTES)
        answer = parsed(body)
        if is_throttling_error(answer):
            raise ThrottledError(f"{self!r} limits our requests", retry_after_seconds=None)
        page: ServicePage = read(call, answer)
        return page


def _page(value: object) -> ServicePage:
    fields = value if isinstance(value, dict) else {}
    balances, key = fields.get("tokenBalances"), fields.get("pageKey") or None
    if not isinstance(balances, list) or len(balances) > MAX_PAGE_TOKENS:
        raise BadResponseError("expected token balances")
    if key is not None and not (isinstance(key, str) and len(key) <= MAX_KEY_CHARACTERS):
        raise BadResponseError("expected the key of a page")
    return ServicePage([responses.address(_contract(balance)) for balance in balances], key)


def _contract(balance: object) -> object:
    return balance.get("contractAddress") if isinstance(balance, dict) else None
