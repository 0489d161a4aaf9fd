"""Proves by simulation what composed transactions do, and gives each its final limit and price of compute units.

The accounts before and all simulations are one HTTP request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from solders.hash import Hash
from solders.pubkey import Pubkey

from sweepapi.errors import FieldError, InsufficientBalance
from sweepapi.rpc import ProviderPool
from sweepapi.solana import compute_budget, reads
from sweepapi.solana.accounts import Account, Holding
from sweepapi.solana.changes import created_holdings
from sweepapi.solana.effects import Effects, Terms, check_effects
from sweepapi.solana.errors import UnsafeSwapError
from sweepapi.solana.lookup_tables import writable_keys
from sweepapi.solana.packing import Packed
from sweepapi.solana.simulation import Simulation, simulate_call
from sweeps.rails.solana_v1.draft import unsigned

# How a simulation fails if the wallet can't pay for the transaction.
_POOR = ("InsufficientFundsForFee", "InsufficientFundsForRent")


@dataclass(frozen=True)
class Simulated:
    """One transaction's simulation, with all accounts that it can write to as they were before."""

    before: Mapping[Pubkey, Account | None]
    simulation: Simulation

    def creates(self, wallet: Pubkey) -> list[Holding]:
        """Return the token accounts that the wallet gets, and pays the rent of."""
        return created_holdings(self.before, self.simulation.accounts, wallet)


def simulate(pool: ProviderPool, transactions: Sequence[Packed]) -> list[Simulated]:
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
        Simulated({key: before[key] for key in of_one}, simulation)
        for of_one, simulation in zip(written, answers, strict=False)
    ]


def prove(simulated: Simulated, terms: Terms) -> Effects:
    """Return what a transaction does; raises ``UnsafeSwapError`` unless that is its terms, and nothing else."""
    error = simulated.simulation.error
    if error is not None and any(name in str(error) for name in _POOR):
        message = "The wallet can't pay the fees and the rent of new accounts."
        raise InsufficientBalance(details=[FieldError("wallet", "insufficient", message)])
    if error is not None:
        raise UnsafeSwapError(f"its simulation fails: {error} {' | '.join(simulated.simulation.logs)}")
    return check_effects(simulated.before, simulated.simulation.accounts, terms)
