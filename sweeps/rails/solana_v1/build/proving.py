"""Proves by simulation what composed transactions do, and how many compute units they consume.

The accounts before and all simulations are one HTTP request.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from solders.hash import Hash
from solders.pubkey import Pubkey

from sweepapi.rpc import ProviderPool
from sweepapi.solana.cluster import reads
from sweepapi.solana.encoding.accounts import TOKEN_ACCOUNT_BYTES, ClusterAccount, Holding
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.lookup_tables import writable_keys
from sweepapi.solana.packing.packing import Packed
from sweepapi.solana.trial.changes import created_holdings
from sweepapi.solana.trial.effects import Effects, TransactionTerms, check_effects
from sweepapi.solana.trial.simulation import ClusterSimulation, simulate_call
from sweepapi.worth.left_out import SIMULATION_FAILED
from sweeps.rails.solana_v1.build.stages import unsigned
from sweeps.rails.solana_v1.obstacles import UNUSABLE_QUOTE

FAILS = "Its sale fails in a simulation: {}."
MAX_ERROR_CHARACTERS = 200
# What a simulation says if the wallet can't pay for the transaction, or for an account on the route.
_INSUFFICIENT_LAMPORTS = ("InsufficientFundsForFee", "InsufficientFundsForRent", "insufficient lamports")


@dataclass(frozen=True)
class Proven:
    """What one transaction does, and the compute units that it consumes."""

    effects: Effects
    units: int
    creates: Sequence[Holding]  # the token accounts that the wallet gets, and pays the rent of


@dataclass(frozen=True)
class Unproven:
    """Why a transaction can't be offered."""

    reason: str  # for operators; it has the words of programs
    message: str  # for partners
    is_unsafe: bool = False  # it would do more than it should; otherwise it fails
    is_unpaid: bool = False  # it fails because the wallet can't pay for it

    @property
    def code(self) -> str:
        """The code of the tokens that it sells."""
        return UNUSABLE_QUOTE.code if self.is_unsafe else SIMULATION_FAILED


@dataclass(frozen=True)
class _Simulated:
    """One transaction's simulation, with all accounts that it can write to as they were before."""

    before: Mapping[Pubkey, ClusterAccount | None]
    simulation: ClusterSimulation
    token_account_rent: int  # at that moment


def prove(
    pool: ProviderPool, transactions: Sequence[Packed], terms: Sequence[TransactionTerms]
) -> list[Proven | Unproven]:
    """Return what each transaction does, if that is its terms and nothing else, and else why not."""
    if not transactions:
        return []
    return [_proven(one, of_one) for one, of_one in zip(_simulate(pool, transactions), terms, strict=True)]


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
    rent, *answers = pool.batch([reads.rent_of(TOKEN_ACCOUNT_BYTES), *calls, *reads.multiple_accounts(keys)])
    before = reads.by_key(keys, answers[len(calls) :])
    return [
        _Simulated({key: before[key] for key in of_one}, simulation, rent)
        for of_one, simulation in zip(written, answers, strict=False)
    ]


def _proven(simulated: _Simulated, terms: TransactionTerms) -> Proven | Unproven:
    error = simulated.simulation.error
    described = f"{error} {' | '.join(simulated.simulation.logs)}"
    if error is not None:
        is_unpaid = any(words in described for words in _INSUFFICIENT_LAMPORTS)
        return Unproven(described, FAILS.format(json.dumps(error)[:MAX_ERROR_CHARACTERS]), is_unpaid=is_unpaid)
    try:
        terms = replace(terms, token_account_rent=simulated.token_account_rent)  # which may have changed meanwhile
        effects = check_effects(simulated.before, simulated.simulation.accounts, terms)
    except UnsafeSwapError as unsafe:
        return Unproven(str(unsafe), UNUSABLE_QUOTE.message, is_unsafe=True)
    return Proven(
        effects=effects,
        units=simulated.simulation.units,
        creates=created_holdings(simulated.before, simulated.simulation.accounts, terms.wallet),
    )
