"""JSON-RPC to a local node, in batches: deploying everything takes a handful of round trips."""

from collections.abc import Sequence
from typing import Any

import requests

from dev.processes.errors import NodeError

TIMEOUT_SECONDS = 60
BATCH_SIZE = 50  # anvil refuses bodies above 2 MB; a deployment carries up to 50 kB


class Rpc:
    """A client for one node."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        # The node is on this machine: no proxy is on the way, and the environment need not be read for every request.
        self.session.trust_env = False

    def call(self, method: str, *params: object) -> Any:  # noqa: ANN401 - a result has any JSON type
        """Return the result of one call; raises NodeError."""
        # Not as a batch of one: surfpool takes no batches.
        return _result(method, self._post(_request(0, method, params), what=method))

    def batch(self, calls: Sequence[tuple[str, Sequence[object]]]) -> list[Any]:
        """Make many calls in order and return their results; raises NodeError if any of them fails."""
        results: list[Any] = []
        for start in range(0, len(calls), BATCH_SIZE):
            part = calls[start : start + BATCH_SIZE]
            requested = [_request(number, method, params) for number, (method, params) in enumerate(part)]
            answers = sorted(self._post(requested, what=part[0][0]), key=lambda answer: answer["id"])
            results += [_result(method, answer) for (method, _), answer in zip(part, answers, strict=True)]
        return results

    def _post(self, body: object, *, what: str) -> Any:  # noqa: ANN401 - an answer, or a list of them
        try:
            response = self.session.post(self.url, json=body, timeout=TIMEOUT_SECONDS)
            response.raise_for_status()
        except requests.RequestException as error:
            raise NodeError(f"{what}: {error}") from error
        return response.json()


def _request(number: int, method: str, params: Sequence[object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}


def _result(method: str, answer: dict[str, Any]) -> Any:  # noqa: ANN401 - a result has any JSON type
    if "error" in answer:
        raise NodeError(f"{method}: {answer['error']}")
    return answer["result"]
