"""The node of a sandbox chain that lets the service mine blocks and move the clock: anvil, mining each transaction."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import lru_cache
from typing import Any, Self

import structlog
from django.conf import settings

from sweepapi.errors import ChainUnavailable, FieldError, UnsupportedChain
from sweepapi.evm.encoding import responses
from sweepapi.networks import Networks
from sweepapi.rpc import Call
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError, TooLargeError
from sweepapi.rpc.transport import Endpoint

TIMEOUT_SECONDS = 5.0
RETRY_AFTER_SECONDS = 2
MAX_RESPONSE_BYTES = 4 * 2**20

log = structlog.get_logger(__name__)


class NodeRefusedError(Exception):
    """The node answered with an error, whose JSON-RPC object this has."""

    def __init__(self, error: dict[str, Any]) -> None:
        self.error = error
        super().__init__(error.get("message"))


class SandboxNode:
    """A connection to one node; its URL never shows."""

    def __init__(self, url: str, chain: str) -> None:
        self._endpoint = Endpoint(url=url, name=f"<sandbox node of {chain}>")
        self.deadline: float | None = None  # by the monotonic clock

    def limited_to(self, seconds: float) -> Self:
        """Return the same node, which is unavailable after this time."""
        limited = copy(self)
        limited.deadline = time.monotonic() + seconds
        return limited

    def ask(self, method: str, *params: object) -> Any:  # noqa: ANN401 a result has any JSON type
        """Return the result of one call; raises ``NodeRefusedError`` and ``ChainUnavailable``."""
        response = self._post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if "error" in response:
            raise NodeRefusedError(response["error"])
        return response["result"]

    def number(self, method: str, *params: object) -> int:
        """Return a result that is a quantity."""
        return int(self.ask(method, *params), 16)

    @contextmanager
    def mining_paused(self) -> Iterator[None]:
        """Mine on demand only; at the end, the node mines each transaction again."""
        self.ask("evm_setAutomine", False)  # noqa: FBT003 JSON-RPC
        try:
            yield
        finally:
            self.ask("evm_setAutomine", True)  # noqa: FBT003 JSON-RPC

    def _post(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.deadline is not None and time.monotonic() > self.deadline:
            log.warning("sandbox_node_too_slow", method=request["method"])
            raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS)
        try:
            raw = self._endpoint.post(json.dumps(request).encode(), TIMEOUT_SECONDS, max_bytes=MAX_RESPONSE_BYTES)
            response = json.loads(raw)
        except TooLargeError:
            raise NodeRefusedError({"code": -32000, "message": "The result is too large; ask for less."}) from None
        except BadResponseError as error:
            log.warning("sandbox_node_failed", method=request["method"], error=str(error))
            raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from None
        except (ValueError, RecursionError) as error:
            log.warning("sandbox_node_failed", method=request["method"], error=type(error).__name__)
            raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from None
        if not isinstance(response, dict) or not {"result", "error"} & response.keys():
            raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS)
        return response


@contextmanager
def refusals_as_failures() -> Iterator[None]:
    """Raise ``ChainUnavailable`` if the node refuses what it must do, whatever the caller sent."""
    try:
        yield
    except NodeRefusedError as error:
        log.warning("sandbox_node_refused", error=str(error))
        raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from None


def node_of(registry: Networks, network: str) -> SandboxNode:
    """Return the node of a sandbox chain, which has shown to this process that it is on that chain.

    Raises ``UnsupportedChain`` if the service has no such node of the chain, and ``ChainUnavailable``.
    """
    chain = registry.chain(network)
    url = settings.SANDBOX_RPC_URLS.get(chain.name)
    if not chain.sandbox or not url:
        problem = FieldError("chain", "unsupported", "The service has no node of this chain that it may control.")
        raise UnsupportedChain(details=[problem])
    return proven_node(registry, url, network)


@lru_cache
def proven_node(registry: Networks, url: str, network: str) -> SandboxNode:
    """Refuse a node of another chain, on which a wrong URL would have the service spend and change what is not its own.

    Its first block must be that which the chain's providers have, as all chains of anvil have the same id by default.
    """
    chain, node = registry.chain(network), SandboxNode(url, registry.name_of(network))
    first = Call("eth_getBlockByNumber", ("0x0", False), responses.block)
    try:
        (known,) = registry.pool(network).batch([first])
        shown = node.number("eth_chainId"), node.ask(first.method, *first.params)
    except (ChainUnavailableError, NodeRefusedError) as error:
        log.warning("sandbox_node_not_proven", chain=chain.name, error=str(error))
        raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from None
    if shown[0] != chain.chain_id or not shown[1] or shown[1]["hash"] != known.hash:
        log.error("sandbox_node_of_another_chain", chain=chain.name, chain_id=shown[0])
        raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS)
    return node
