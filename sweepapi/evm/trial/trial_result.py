"""What the trial of a sweep showed, as partners see it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from sweepapi.evm.reverts.decoding import decode_revert
from sweepapi.evm.reverts.explaining import explain
from sweepapi.evm.trial.attempts import TrialOutcome

NOT_HELD = "The wallet holds less of a token than the sweep takes."
NOT_SIMULATED = "The chain's provider neither simulates transactions nor makes calls with other code for the wallet."
WITHOUT_EVENT = "The chain's provider simulated the sweep without its event."


class SimulationStatus(StrEnum):
    """How a simulation ended."""

    OK = "ok"
    REVERTED = "reverted"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Simulation:
    """What the chain does with a sweep now, tried before the user approved or signed anything."""

    status: SimulationStatus
    method: str | None = None  # of the JSON-RPC interface; None if nothing was tried
    gas_used: int | None = None  # as the receipt would show it; None unless it went through
    least_gas: int | None = None  # the least limit with which it went through
    gross_output: int | None = None  # before the fee, in the output's smallest unit
    failing_token: str | None = None
    target: str | None = None  # the pool or router that failed
    reason: str | None = None  # a sentence, unless it went through
    approvals_used: Mapping[tuple[str, str], int] = field(
        default_factory=dict
    )  # as in ``TrialOutcome``, and so is the next
    batch_used: int | None = None
    taken: Collection[str] = ()  # tokens of the user, not swept, that say that they were moved or are fewer


def skipped(reason: str) -> Simulation:
    """Return the result of a sweep that was not tried."""
    return Simulation(SimulationStatus.SKIPPED, reason=reason)


NOT_TRIED = skipped("Nothing was tried.")


def together(results: Sequence[Simulation], gas_used: int) -> Simulation:
    """Return what is known of a sweep whose parts were tried alone: the gas of their approvals, and its own."""
    used = {approval: gas for result in results for approval, gas in result.approvals_used.items()}
    return replace(NOT_TRIED, gas_used=gas_used, approvals_used=used)


def simulation_of(outcome: TrialOutcome | None, tokens: Sequence[str]) -> Simulation:
    """Return what the outcome of a sweep of these tokens shows; it is None if no method of trying works."""
    if outcome is None:
        return skipped(NOT_SIMULATED)
    if outcome.least_gas is None:
        return _reverted(outcome, tokens)
    if outcome.gross_output is None:
        return skipped(WITHOUT_EVENT)
    return Simulation(
        SimulationStatus.OK,
        method=outcome.method,
        gas_used=outcome.gas_used,
        least_gas=outcome.least_gas,
        gross_output=outcome.gross_output,
        approvals_used=outcome.approvals_used,
        batch_used=outcome.batch_used,
        taken=outcome.taken,
    )


def _reverted(outcome: TrialOutcome, tokens: Sequence[str]) -> Simulation:
    reason = decode_revert(outcome.returned)
    explained = explain(reason, tokens=tokens)
    return Simulation(
        SimulationStatus.REVERTED,
        method=outcome.method,
        failing_token=explained.token,
        target=reason.arguments.get("target"),
        reason=explained.message,
    )
