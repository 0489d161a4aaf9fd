"""Tries a sweep as the account that would send it, before it has approved or signed anything.

``eth_simulateV1`` (execution-apis) executes calls one after the other on top of the newest block and forgets them. The
sender needs no signature, and its own code runs, so that a token sees what it will see when it counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import GasPrice, Log
from sweepapi.evm.trial.attempts import Attempt, TrialOutcome, TriedCall, grouped
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError, CallFailedError

METHOD = "eth_simulateV1"


@dataclass(frozen=True)
class TriedResult:
    """What became of a call; ``returned`` is the reason if it reverted."""

    succeeded: bool
    gas_used: int
    logs: tuple[Log, ...]
    returned: bytes


@dataclass(frozen=True)
class SimulatedAttempt:
    """An attempt by ``eth_simulateV1``: approvals and sweeps are transactions of their own."""

    attempt: Attempt

    @cached_property
    def requests(self) -> list[Call]:
        """As many requests as it takes to keep each below the gas that nodes allow."""
        return [self._request([*self._approvals, *self._sweeps(limits)]) for limits in self._groups]

    def outcome(self, answers: Sequence[list[TriedResult] | CallFailedError]) -> TrialOutcome | None:
        """Return what the results of all requests show; None if the node did not answer each of them."""
        answered = [answer for answer in answers if not isinstance(answer, CallFailedError)]
        if len(answered) < len(answers):
            return None
        results = [result for answer in answered for result in answer[len(self._approvals) :]]
        limits = [limit for limits in self._groups for limit in limits]
        for limit, result in zip(limits, results, strict=True):
            if result.succeeded:
                return TrialOutcome(METHOD, limit, result.gas_used, self._gross_output(result), b"")
        return TrialOutcome(METHOD, None, results[-1].gas_used, None, results[-1].returned)

    def _gross_output(self, result: TriedResult) -> int | None:
        outputs = [output for log in result.logs if (output := self.attempt.gross_output(log)) is not None]
        return outputs[0] if len(outputs) == 1 else None

    @cached_property
    def _approvals(self) -> list[TriedCall]:
        return self.attempt.approving_calls

    @cached_property
    def _groups(self) -> list[list[int]]:
        attempt = self.attempt
        return grouped(attempt.limits, room=attempt.request_gas(self._price) - attempt.approving_gas)

    @cached_property
    def _price(self) -> GasPrice | None:
        return self.attempt.payable(self.attempt.gas_price, overhead=self.attempt.approving_gas)

    def _sweeps(self, limits: Sequence[int]) -> list[TriedCall]:
        return [TriedCall(self.attempt.contract, self.attempt.calldata, limit) for limit in limits]

    def _request(self, calls: Sequence[TriedCall]) -> Call:
        attempt, price = self.attempt, self._price
        block: dict[str, Any] = {
            "stateOverrides": {address: {"code": code} for address, code in attempt.codes.items()},
            "calls": [_transaction(attempt.user, call, price) for call in calls],
        }
        if price is not None:
            block["blockOverrides"] = {"baseFeePerGas": hex(price.base_fee)}

        def decode(value: object) -> list[TriedResult]:
            return _results(value, len(calls), attempt.contract)

        return Call(METHOD, ({"blockStateCalls": [block]}, "latest"), decode, ErrorPolicy.ANY)


def _is_list(value: object) -> bool:
    if not isinstance(value, list):
        raise BadResponseError("expected simulated blocks")
    return True


SIMULATES = Call(METHOD, ({"blockStateCalls": [{"calls": []}]}, "latest"), _is_list, ErrorPolicy.ANY)


def _transaction(sender: str, call: TriedCall, gas_price: GasPrice | None) -> dict[str, str]:
    request = {"from": sender, "to": call.to, "data": f"0x{call.data.hex()}", "gas": hex(call.gas)}
    if gas_price is not None:
        request |= {"maxFeePerGas": hex(gas_price.wei), "maxPriorityFeePerGas": hex(gas_price.priority_fee)}
    return request


def _results(value: object, count: int, emitter: str) -> list[TriedResult]:
    blocks = value if isinstance(value, list) else []
    if len(blocks) != 1 or not isinstance(blocks[0], dict):
        raise BadResponseError("expected one simulated block")
    results = blocks[0].get("calls")
    if not isinstance(results, list) or len(results) != count:
        raise BadResponseError("expected a result of every call")
    return [_result(each, emitter) for each in results]


def _result(value: object, emitter: str) -> TriedResult:
    if not isinstance(value, dict):
        raise BadResponseError("expected the result of a call")
    succeeded = responses.quantity(value.get("status")) == 1
    return TriedResult(
        succeeded=succeeded,
        gas_used=responses.counter(value.get("gasUsed")),
        logs=responses.logs(value.get("logs", []), emitter=emitter),
        returned=responses.data(value.get("returnData")),
    )
