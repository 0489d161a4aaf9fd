"""Proves by simulation what composed transactions do, and how many compute units they consume.

The accounts before and all simulations are one HTTP request, which is repeated once if it seems to show an effect
beyond the terms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog
from solders.hash import Hash
from solders.pubkey import Pubkey

from sweepapi.errors import FieldError, InsufficientBalance
from sweepapi.rpc import ProviderPool
from sweepapi.solana.cluster import reads
from sweepapi.solana.encoding.accounts import ClusterAccount, Holding
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.lookup_tables import writable_keys
from sweepapi.solana.packing.packing import Packed
from sweepapi.solana.trial.changes import created_holdings
from sweepapi.solana.trial.effects import Effects, TransactionTerms, check_effects
from sweepapi.solana.trial.simulation import ClusterSimulation, simulate_call
from sweeps.rails.solana_v1.build.stages import unsigned

log = structlog.get_logger(__name__)

# What a simulation says if the wallet can't pay for the transaction, or for an account on the route.
_INSUFFICIENT_LAMPORTS = ("InsufficientFundsForFee", "InsufficientFundsForRent", "insufficient lamports")


@dataclass(frozen=True)
class Proven:
    """What one transaction does, and the compute units that it consumes."""

    effects: Effects
    units: int
    creates: Sequence[Holding]  # the token accounts that the wallet gets, and pays the rent of


@dataclass(frozen=True)
class _Simulated:
    """One transaction's simulation, with all accounts that it can write to as they were before."""

    before: Mapping[Pubkey, ClusterAccount | None]
    simulation: ClusterSimulation


def prove(pool: ProviderPool, transactions: Sequence[Packed], terms: Sequence[TransactionTerms]) -> list[Proven]:
    """Return what each transaction does; raises ``UnsafeSwapError`` unless that is its terms, and nothing else."""
    try:
        return _proven(_simulate(pool, transactions), terms)
    except UnsafeSwapError as error:
        # The accounts before and the simulations may be of different slots, and others pay into the fee account too.
        log.warning("simulated_again", reason=str(error))
        return _proven(_simulate(pool, transactions), terms)


def _simulate(pool: ProviderPool, transactions: Sequence[Packed]) -> list[_Simulated]:
    """Simulate each transaction on the present state, without a price, so that it costs only its signature."""
    messages = [
        packed.message(Hash.default(), unit_limit=compute_budget.MAX_UNITS, unit_price=0) for packed in transactions
    ]
    written = [
        writable_keys(message, packed.lookup_tables) for message, packed in zip(messages, transactions, strict=True)
    ]
    keys = list(dict.fromkeys(key for of_one in written for key in of_one))
    calls = [simulate_call(unsigned(message), of_one) for message, of_one in zip(messages, written, strict=True)]
    answers = pool.batch([*calls, *reads.multiple_accounts(keys)])
    before = reads.by_key(keys, answers[len(calls) :])
    return [
        _Simulated({key: before[key] for key in of_one}, simulation)
        for of_one, simulation in zip(written, answers, strict=False)
    ]


def _proven(simulated: Sequence[_Simulated], terms: Sequence[TransactionTerms]) -> list[Proven]:
    return [
        Proven(
            effects=_effects(one, of_one),
            units=one.simulation.units,
            creates=created_holdings(one.before, one.simulation.accounts, of_one.wallet),
        )
        for one, of_one in zip(simulated, terms, strict=True)
    ]


def _effects(simulated: _Simulated, terms: TransactionTerms) -> Effects:
    error = simulated.simulation.error
    described = f"{error} {' | '.join(simulated.simulation.logs)}"
    if error is not None and any(words in described for words in _INSUFFICIENT_LAMPORTS):
        message = "The wallet can't pay the fees and the rent of new accounts."
        raise InsufficientBalance(details=[FieldError("wallet", "insufficient", message)])
    if error is not None:
        raise UnsafeSwapError(f"its simulation fails: {described}")
    return check_effects(simulated.before, simulated.simulation.accounts, terms)
