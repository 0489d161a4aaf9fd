"""Tries sweeps by the best method that the providers of a chain have.

``eth_simulateV1`` changes only the code of the fee signer. Where it is not answered, ``eth_call`` is used, which also
replaces the user's code. If ``eth_simulateV1`` was refused the last time, ``eth_call`` comes first, so that a build
takes no further round trip; an empty simulation in the same batch shows whether a provider has the method by now.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from sweepapi.evm.trial import simulation
from sweepapi.evm.trial.attempts import Attempt, TrialOutcome
from sweepapi.evm.trial.simulation import SIMULATES, SimulatedAttempt
from sweepapi.evm.trial.trial_call import CalledAttempt
from sweepapi.rpc import Call, ProviderPool
from sweepapi.rpc.errors import CallFailedError


def try_all(
    attempts: Sequence[Attempt], pool: ProviderPool, *, also: Sequence[Call] = ()
) -> tuple[list[TrialOutcome | None], list[Any]]:
    """Return what becomes of each attempt, None if no method shows it, and the results of the calls made beside them.

    Raises ``ChainUnavailableError``.
    """
    if simulation.METHOD in pool.refused_methods:
        return _called_first(attempts, pool, also)
    tries = [SimulatedAttempt(attempt) for attempt in attempts]
    requests = _requests(tries)
    answers = pool.batch([*requests, *also])
    outcomes = _outcomes(tries, answers[: len(requests)])
    if not any(outcomes):
        pool.refused_methods.add(simulation.METHOD)
    missing = [CalledAttempt(attempt) for attempt, outcome in zip(attempts, outcomes, strict=True) if outcome is None]
    called = iter(_outcomes(missing, pool.batch(_requests(missing))))
    return [outcome or next(called) for outcome in outcomes], answers[len(requests) :]


def _called_first(
    attempts: Sequence[Attempt], pool: ProviderPool, also: Sequence[Call]
) -> tuple[list[TrialOutcome | None], list[Any]]:
    tries = [CalledAttempt(attempt) for attempt in attempts]
    requests = _requests(tries)
    simulates, *answers = pool.batch([SIMULATES, *requests, *also])
    if not isinstance(simulates, CallFailedError):
        pool.refused_methods.discard(simulation.METHOD)
    return _outcomes(tries, answers[: len(requests)]), answers[len(requests) :]


def _requests(tries: Sequence[SimulatedAttempt | CalledAttempt]) -> list[Call]:
    return [request for tried in tries for request in tried.requests]


def _outcomes(tries: Sequence[SimulatedAttempt | CalledAttempt], answers: Sequence[Any]) -> list[TrialOutcome | None]:
    left = iter(answers)
    return [tried.outcome(list(islice(left, len(tried.requests)))) for tried in tries]
