"""Tries a sweep as the account that would send it, before it has approved or signed anything.

``eth_simulateV1`` (execution-apis) executes calls one after the other on top of the newest block and forgets them. The
sender needs no signature, and its own code runs, so that a token sees what it will see when it counts.

Where data takes gas, what a sweep uses without that is found in a block whose base fee is zero, because that takes
none. A token could see that the price is zero; so the sweep is tried once more at a price, in a request of its own.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import GasPrice, Log
from sweepapi.evm.tokens.erc20 import TRANSFER_TOPIC
from sweepapi.evm.trial.attempts import Attempt, TrialOutcome, TriedCall, grouped
from sweepapi.evm.trial.sweep_gas import TRANSACTION_CAP
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError, CallFailedError

METHOD = "eth_simulateV1"


@dataclass(frozen=True)
class TriedResult:
    """What became of a call; ``returned`` is the reason if it reverted."""

    succeeded: bool
    gas_used: int
    logs: tuple[Log, ...]  # of the sweep's contract
    moved: frozenset[str]  # the tokens that say that the user sent them
    returned: bytes


@dataclass(frozen=True)
class SimulatedAttempt:
    """An attempt by ``eth_simulateV1``: approvals and sweeps are transactions of their own."""

    attempt: Attempt

    @cached_property
    def requests(self) -> list[Call]:
        """As many requests as it takes to keep each below the gas that nodes allow, that of the batch last."""
        attempt = self.attempt
        requests = [self._request([*self._approvals, *self._sweeps(limits)]) for limits in self._groups]
        requests += self._at_a_price
        if attempt.batch is not None:
            limit = min(sum(self._groups[0]) + attempt.approving_gas, TRANSACTION_CAP)
            codes = {} if attempt.batch.code is None else {attempt.user: attempt.batch.code}
            requests.append(self._request([TriedCall(attempt.user, attempt.batch.calldata, limit)], codes=codes))
        return requests

    def outcome(self, answers: Sequence[list[TriedResult] | CallFailedError]) -> TrialOutcome | None:
        """Return what the results show; None if the node did not answer each request without the batch."""
        count = len(self._groups)
        answered = [answer for answer in answers[:count] if not isinstance(answer, CallFailedError)]
        if len(answered) < count:
            return None
        batch = count + len(self._at_a_price)
        for answer in answers[count:batch]:
            if not isinstance(answer, CallFailedError) and not answer[-1].succeeded:
                return TrialOutcome(METHOD, None, answer[-1].gas_used, None, answer[-1].returned)
        results = [result for answer in answered for result in answer[len(self._approvals) :]]
        limits = [limit for limits in self._groups for limit in limits]
        for limit, result in zip(limits, results, strict=True):
            if result.succeeded:
                return TrialOutcome(
                    METHOD,
                    least_gas=limit,
                    gas_used=result.gas_used - self.attempt.codes_gas,
                    gross_output=self._gross_output(result),
                    returned=b"",
                    approvals_used=self._approvals_used(answered[0]),
                    batch_used=self._batch_used(answers[batch:]),
                    taken=self._taken([*answered[0][: len(self._approvals)], result]),
                )
        return TrialOutcome(METHOD, None, results[-1].gas_used, None, results[-1].returned)

    def _taken(self, results: Sequence[TriedResult]) -> frozenset[str]:
        """Return the tokens that approvals and sweep moved, and that were not to be swept."""
        moved = frozenset[str]().union(*(result.moved for result in results))
        return moved.difference(approval.token for approval in self.attempt.approvals)

    def _approvals_used(self, results: Sequence[TriedResult]) -> dict[tuple[str, str], int]:
        used: dict[tuple[str, str], int] = defaultdict(int)
        made = [one for one in (*self.attempt.approvals, *self.attempt.other_approvals) for _ in one.amounts]
        for approval, result in zip(made, results, strict=False):
            used[approval.token, approval.spender] += result.gas_used
        return dict(used)

    def _batch_used(self, answers: Sequence[list[TriedResult] | CallFailedError]) -> int | None:
        """Return the gas of the batch; None if there is none, if it was not tried, or if it reverted."""
        results = [answer[0] for answer in answers if not isinstance(answer, CallFailedError)]
        return results[0].gas_used - self.attempt.codes_gas if results and results[0].succeeded else None

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
        if self.attempt.data_gas is not None:
            return None
        return self.attempt.payable(self.attempt.gas_price, overhead=self.attempt.approving_gas)

    @cached_property
    def _at_a_price(self) -> list[Call]:
        """The request at a price, where the others have none because of the data; none if it can't be paid."""
        attempt = self.attempt
        if attempt.data_gas is None:
            return []
        approvals = [call for approval in attempt.approvals for call in approval.calls]
        overhead = sum(call.gas for call in approvals) + attempt.data_gas * (len(approvals) + 1)
        price = attempt.payable(attempt.gas_price, overhead=overhead)
        if price is None:
            return []
        sweeps = self._sweeps([min(max(attempt.limits), attempt.request_gas(price) - overhead)])
        calls = [replace(call, gas=call.gas + attempt.data_gas) for call in (*approvals, *sweeps)]
        return [self._request(calls, price=price)]

    def _sweeps(self, limits: Sequence[int]) -> list[TriedCall]:
        return [TriedCall(self.attempt.contract, self.attempt.calldata, limit) for limit in limits]

    def _request(
        self, calls: Sequence[TriedCall], *, codes: Mapping[str, str] | None = None, price: GasPrice | None = None
    ) -> Call:
        attempt, price = self.attempt, price or self._price
        block: dict[str, Any] = {
            "stateOverrides": {address: {"code": code} for address, code in {**attempt.codes, **(codes or {})}.items()},
            "calls": [_transaction(attempt.user, call, price) for call in calls],
        }
        if price is not None:
            block["blockOverrides"] = {"baseFeePerGas": hex(price.base_fee)}

        def decode(value: object) -> list[TriedResult]:
            return _results(value, len(calls), attempt.contract, attempt.user)

        return Call(METHOD, ({"blockStateCalls": [block]}, "latest"), decode, ErrorPolicy.ANY)


def one_call(*, sender: str, call: TriedCall) -> Call:
    """Return the request whose result is what becomes of one transaction, with the logs of the contract it calls.

    It pays no gas.
    """
    block = {"blockStateCalls": [{"calls": [_transaction(sender, call, None)]}]}

    def decode(value: object) -> TriedResult:
        (result,) = _results(value, 1, call.to, sender)
        return result

    return Call(METHOD, (block, "latest"), decode, ErrorPolicy.ANY)


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


def _results(value: object, count: int, emitter: str, user: str) -> list[TriedResult]:
    blocks = value if isinstance(value, list) else []
    if len(blocks) != 1 or not isinstance(blocks[0], dict):
        raise BadResponseError("expected one simulated block")
    results = blocks[0].get("calls")
    if not isinstance(results, list) or len(results) != count:
        raise BadResponseError("expected a result of every call")
    sent = [TRANSFER_TOPIC, f"0x{user[2:].lower():0>64}"]
    return [_result(each, emitter, sent) for each in results]


def _result(value: object, emitter: str, sent: list[str]) -> TriedResult:
    if not isinstance(value, dict):
        raise BadResponseError("expected the result of a call")
    succeeded = responses.quantity(value.get("status")) == 1
    return TriedResult(
        succeeded=succeeded,
        gas_used=responses.counter(value.get("gasUsed")),
        logs=responses.logs(value.get("logs", []), emitter=emitter),
        moved=responses.emitters(value.get("logs", []), topics=sent),
        returned=responses.data(value.get("returnData")),
    )
