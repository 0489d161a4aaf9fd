"""Tries a sweep where a provider lacks ``eth_simulateV1``: by one ``eth_call``, with other code at the user's account.

``SimulationWallet`` makes approvals and sweep in one call; ``call_gas`` says what transactions of their own would need.
A call shows no logs, so the output is what the balances of its recipients rise by, and other tokens were taken if the
user has less of them. What a token does only to accounts without code remains hidden, and so does what the user's own
code does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.abi import Function, exported_code
from sweepapi.evm.encoding.addresses import NATIVE_COIN, ZERO_ADDRESS
from sweepapi.evm.encoding.responses import GasPrice
from sweepapi.evm.trial.attempts import Attempt, TrialOutcome, grouped
from sweepapi.evm.trial.call_gas import CallGas, CallResult
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError, CallFailedError

METHOD = "eth_call"
RUN = Function(
    "run(((address,uint256,uint256,bool)[],address,bytes,uint256[],(address,address)[]))",
    "((uint256,uint256,bytes,uint256[],uint256[],uint256[],uint256[],uint256[]))",
)
# At most what a call of the wallet uses, what the wallet uses around it, and what else it uses.
TOUCH_GAS, CALL_GAS, FIXED_GAS = 50_000, 8_000, 100_000


@dataclass(frozen=True)
class CalledAttempt:
    """An attempt by ``eth_call``."""

    attempt: Attempt

    @cached_property
    def requests(self) -> list[Call]:
        """As many requests as it takes to keep each below the gas that nodes allow."""
        return [self._request(limits) for limits in grouped(self._gas.limits, room=self._room)]

    def outcome(self, answers: Sequence[CallResult | CallFailedError]) -> TrialOutcome | None:
        """Return what the results of all requests show, with the gas of a transaction; None if they show nothing.

        A token that burns gas can leave too little for the highest limits, so one request that goes through is enough.
        """
        results = [answer for answer in answers if not isinstance(answer, CallFailedError)]
        result = next((result for result in results if result.gas_limit), None)
        if result is None:
            last = results[-1] if len(results) == len(answers) else None
            return None if last is None else TrialOutcome(METHOD, None, last.gas_used, None, last.returned)
        return TrialOutcome(
            METHOD,
            least_gas=self._gas.least(result),
            gas_used=self._gas.used(result),
            gross_output=self._gross_output(result),
            returned=b"",
            approvals_used=self._gas.approvals_used(result),
            taken=self._taken(result),
        )

    # --- the request --------------------------------------------------------------------------------------------------

    @cached_property
    def _gas(self) -> CallGas:
        return CallGas(self.attempt)

    @cached_property
    def _balances(self) -> list[tuple[str, str]]:
        """What is read before and after the sweep, by token: of the contract, the recipients and the user."""
        return [*self._sweep_balances, *((token, self.attempt.user) for token in self.attempt.kept)]

    @cached_property
    def _sweep_balances(self) -> list[tuple[str, str]]:
        """What the contract holds, and what the recipients hold of the output; by token, zero for the native coin."""
        attempt, payout = self.attempt, self.attempt.payout
        held = [(token, attempt.contract) for token in self._gas.held]
        if payout.token != NATIVE_COIN:
            return [*held, *((payout.token, recipient) for recipient in payout.recipients)]
        # Not the user's wrapped coin: the user is paid in the native one, and may be sweeping the wrapped one.
        wrapped = [(payout.wrapped_native, recipient) for recipient in payout.recipients[1:]]
        return [*held, *((ZERO_ADDRESS, recipient) for recipient in payout.recipients), *wrapped]

    @cached_property
    def _overhead(self) -> int:
        """The gas of a request without that of its attempts; its calldata is that of the sweep, and mostly zeros."""
        touches = 3 * len(self.attempt.approvals) + 2 * len(self._balances)
        return FIXED_GAS + self._gas.floor + self.attempt.approving_gas + TOUCH_GAS * touches + CALL_GAS * touches

    @cached_property
    def _price(self) -> GasPrice | None:
        overhead = self._overhead + (self.attempt.data_gas or 0)
        return self.attempt.payable(_price_now(self.attempt.gas_price), overhead=overhead)

    @cached_property
    def _data_gas(self) -> int:
        """What the chain takes for the request's own data, which is that of the sweep; none without a price."""
        return 0 if self._price is None else self.attempt.data_gas or 0

    @cached_property
    def _most_gas(self) -> int:
        """Of a request, without that."""
        return self.attempt.request_gas(self._price) - self._data_gas

    @cached_property
    def _room(self) -> int:
        return (self._most_gas - self._overhead) * 63 // 64

    def _request(self, limits: Sequence[int]) -> Call:
        attempt = self.attempt
        approvals = [
            (approval.token, approval.current, approval.final, len(approval.amounts) > 1)
            for approval in attempt.approvals
        ]
        data = RUN.encode((approvals, attempt.contract, attempt.calldata, limits, self._balances))
        gas = min(self._overhead + sum(limits) * 64 // 63 + 1, self._most_gas)
        transaction = {
            "from": attempt.user,
            "to": attempt.user,
            "data": f"0x{data.hex()}",
            "gas": hex(gas + self._data_gas),
        }
        if self._price is not None:
            transaction |= {
                "maxFeePerGas": hex(self._price.wei),
                "maxPriorityFeePerGas": hex(self._price.priority_fee),
            }
        codes = {**attempt.codes, attempt.user: exported_code("SimulationWallet")}
        overrides = {address: {"code": code} for address, code in codes.items()}
        is_priced = self._price is not None
        return Call(METHOD, (transaction, "latest", overrides), self._decode, ErrorPolicy.ANY, as_sent=is_priced)

    def _decode(self, value: object) -> CallResult:
        (values,) = RUN.decode(responses.data(value))
        result = CallResult(*values)
        by_approval = (result.warmed, result.approvals_used, result.allowances_left)
        counts = [len(one) for one in (*by_approval, result.before, result.after)]
        if counts != [len(self.attempt.approvals)] * 3 + [len(self._balances)] * 2:
            raise BadResponseError("the simulation wallet returned other numbers of results")
        return result

    def _gross_output(self, result: CallResult) -> int:
        paid = slice(len(self._gas.held), len(self._sweep_balances))
        return sum(result.after[paid]) - sum(result.before[paid])

    def _taken(self, result: CallResult) -> list[str]:
        first = len(self._sweep_balances)
        kept = zip(self.attempt.kept, result.before[first:], result.after[first:], strict=True)
        return [token for token, before, after in kept if after < before]


def _price_now(price: GasPrice | None) -> GasPrice | None:
    """Return what suffices in the newest block, whose base fee may be a seventh above that of the next one."""
    return None if price is None else replace(price, base_fee=price.base_fee * 8 // 7 + 1)
