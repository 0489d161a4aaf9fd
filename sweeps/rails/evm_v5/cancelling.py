"""Cancels authorizations on chain on request, until their sweeps are closed.

1. The state of the fee signer's account and of the nonces is read in one batch. 2. Missing transactions are signed, and
stored under a lock on the account, so that its nonces are assigned one by one. 3. Everything that is not mined yet is
sent to every provider; a transaction that was sent before is sent again, byte for byte.

Whether an authorization was cancelled is not decided here: the event closes the sweep (``sweeps.story.settle``).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count, groupby

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from sweepapi.evm.chain.errors import FeeSignerUnavailableError
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.chain.sending import (
    GWEI,
    AccountState,
    BroadcastResult,
    Fees,
    OutgoingTransaction,
    SignedTransaction,
    account_state_calls,
    account_state_of,
    send_all,
)
from sweepapi.evm.contracts.v5 import CANCEL_AUTHORIZATION, IS_NONCE_USED
from sweepapi.evm.encoding import responses
from sweepapi.networks import Networks
from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError, CallFailedError, ChainUnavailableError
from sweeps.models import NO_PROVIDER_ANSWERED, Execution, SweepStatus
from sweeps.rails.evm_v5.models import Cancellation, CancellationTransaction
from sweeps.store.stored import StoredSweep

STUCK_AFTER = timedelta(seconds=60)
MAX_AT_ONCE = 50  # each is a call of the batch
# Every transaction needs the minimum, and none may exceed the maximum (EIP-7825), so any other estimate is wrong.
MIN_GAS, MAX_GAS = 21_000, 2**24

RAN_OUT = "The authorization has expired, so there is nothing to cancel."
CONTRACT_REFUSES = "The contract refuses the cancellation: {account} is not its fee signer."
FEE_ABOVE_CAP = "Gas costs more than MAX_FEE_PER_GAS_GWEI allows."
INSUFFICIENT_BALANCE = "The fee signer {account} cannot pay the gas: it has {balance} wei and needs {needed}."
NOT_SIGNED = "The transaction could not be signed: {error}."
BROADCAST_ERRORS = {
    BroadcastResult.REFUSED: "Every provider refused the transaction.",
    BroadcastResult.INSUFFICIENT_FUNDS: "The providers say that the fee signer cannot pay the gas.",
    BroadcastResult.UNDERPRICED: "The providers ask for a higher fee; the transaction is replaced in a minute.",
}


def request(stored: StoredSweep) -> None:
    """Record, in the caller's transaction, that a sweep's authorization is to be cancelled."""
    (execution,) = stored.executions
    Cancellation.objects.create(execution_id=execution.id)


def send_requested(registry: Networks) -> None:
    """Go through the steps once for every chain on which a cancellation is requested."""
    _clear_errors_of_executed()
    requested = (
        Cancellation.objects.filter(execution__sweep__is_open=True, execution__network__in=registry.known)
        .exclude(execution__sweep__status=SweepStatus.COMPLETED)
        .select_related("execution__sweep")
        .order_by("execution__network", "id")
    )
    for network, group in groupby(requested, key=lambda cancellation: cancellation.execution.network):
        of_network = list(group)
        for start in range(0, len(of_network), MAX_AT_ONCE):
            batch = of_network[start : start + MAX_AT_ONCE]
            _note(batch, _Round(registry, network, batch).errors())


def _clear_errors_of_executed() -> None:
    """Clear the errors of cancellations whose sweeps were executed: they no longer matter."""
    executed = Cancellation.objects.filter(execution__status=Execution.Status.EXECUTED)
    executed.exclude(last_error="").update(last_error="")


def _note(requested: Sequence[Cancellation], errors: Mapping[int, str]) -> None:
    for cancellation in requested:
        error = errors.get(cancellation.id, "")
        if cancellation.last_error != error:
            Cancellation.objects.filter(id=cancellation.id).update(last_error=error)


@dataclass(frozen=True)
class _Facts:
    """The state of the chain; the last two by cancellation."""

    terms: AccountState
    used: Mapping[int, bool]  # whether its nonce is used
    gas: Mapping[int, int | CallFailedError]  # what cancelling needs, or that the contract refuses it


@dataclass(frozen=True)
class _Unsigned:
    """A transaction that has to be signed: the first of a cancellation, or a replacement at a higher fee."""

    cancellation: Cancellation
    account_nonce: int
    attempt: int
    gas: int
    fees: Fees
    replaces: CancellationTransaction | None = None

    @property
    def cancellation_id(self) -> int:
        return self.cancellation.id


class _Round:
    """The steps for cancellations on one chain."""

    def __init__(self, registry: Networks, network: str, requested: Sequence[Cancellation]) -> None:
        self.chain = registry.chain(network)
        self.pool = registry.pool(network)
        self.requested = requested
        self.signer = registry.fee_signer
        self.account = self.signer.address
        self.max_fee_cap = settings.MAX_FEE_PER_GAS_GWEI * GWEI
        self._errors: dict[int, str] = {}

    def errors(self) -> dict[int, str]:
        """Run the steps and return the errors by cancellation."""
        try:
            facts = self._read()
            useful = [cancellation for cancellation in self.requested if self._is_useful(cancellation, facts)]
            rows = self._sign(useful, facts) if useful else []
            if rows:
                self._send(rows[:MAX_AT_ONCE])  # the rest waits for these to be mined
        except ChainUnavailableError:
            return {cancellation.id: NO_PROVIDER_ANSWERED for cancellation in self.requested}
        return self._errors

    def _read(self) -> _Facts:
        reads = [
            Read(cancellation.execution.venue, IS_NONCE_USED, (int(cancellation.execution.execution_id),))
            for cancellation in self.requested
        ]
        calls = [
            *account_state_calls(self.account),
            # Before the nonces are read: a nonce used in between must not look like a contract that refuses.
            *[self._estimate_call(cancellation) for cancellation in self.requested],
            multicall(multicall3=self.chain.multicall3, reads=reads, require_all=True),
        ]
        *values, used = self.pool.batch(calls)
        gas = values[-len(self.requested) :]
        ids = [cancellation.id for cancellation in self.requested]
        return _Facts(
            terms=account_state_of(values[: -len(self.requested)]),
            used={key: is_used for key, (is_used,) in zip(ids, used, strict=True)},
            gas=dict(zip(ids, gas, strict=True)),
        )

    def _estimate_call(self, cancellation: Cancellation) -> Call:
        """Return the call that estimates the gas; it fails if the contract refuses."""
        data = "0x" + _calldata(cancellation).hex()
        fields = {"from": self.account, "to": cancellation.execution.venue, "data": data}
        return Call("eth_estimateGas", (fields, "latest"), _with_margin, ErrorPolicy.EXECUTION)

    def _is_useful(self, cancellation: Cancellation, facts: _Facts) -> bool:
        """Whether cancelling still makes a difference."""
        if facts.used[cancellation.id]:
            return False
        if facts.terms.head.timestamp > cancellation.execution.sweep.deadline.timestamp():
            self._errors[cancellation.id] = RAN_OUT
            return False
        return True

    def _sign(self, useful: Sequence[Cancellation], facts: _Facts) -> list[CancellationTransaction]:
        """Sign what is missing, and return all transactions of the account that are not mined yet.

        The signer may be remote, so it signs before the lock is taken. What is due under the lock differs if another
        worker was faster; the next round signs the rest.
        """
        signed = self._signatures([one for one in self._due(useful, facts) if isinstance(one, _Unsigned)])
        with transaction.atomic():
            self._lock_account()
            rows = [self._store(one, signed) if isinstance(one, _Unsigned) else one for one in self._due(useful, facts)]
        return [row for row in rows if row is not None]

    def _signatures(self, unsigned: Sequence[_Unsigned]) -> dict[_Unsigned, SignedTransaction]:
        """Sign as many as possible; what was signed before can still be sent if the signer does not answer."""
        signed: dict[_Unsigned, SignedTransaction] = {}
        try:
            for one in unsigned:
                signed[one] = self._signed(one)
        except FeeSignerUnavailableError as error:
            self._errors |= {one.cancellation_id: NOT_SIGNED.format(error=error) for one in unsigned[len(signed) :]}
        return signed

    def _due(self, useful: Sequence[Cancellation], facts: _Facts) -> list[CancellationTransaction | _Unsigned]:
        """Return all transactions that the account has to have in its line, in order.

        That includes transactions no longer needed, because later nonces of the account wait behind them. Those behind
        a gap would wait forever and are ignored, so a provider that returned too high a count can't block the account.
        """
        rows = list(self._waiting(facts))
        in_line = [row for nonce, row in zip(count(facts.terms.account_nonce), rows) if row.account_nonce == nonce]
        due = [self._renewed(row, facts) for row in in_line]
        have_one = {one.cancellation_id for one in due} | self._just_signed(useful)
        taken = {row.account_nonce for row in rows}
        for cancellation in useful:
            if cancellation.id not in have_one:
                due += self._first(cancellation, facts, taken=taken | {one.account_nonce for one in due})
        return due

    def _lock_account(self) -> None:
        with connection.cursor() as cursor:
            name = f"transactions of {self.account} on {self.chain.chain_id}"
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])

    def _waiting(self, facts: _Facts) -> QuerySet[CancellationTransaction]:
        """Return the newest transaction for each of the account's nonces that the chain has not used."""
        return (
            CancellationTransaction.objects.filter(
                network=self.chain.network, account=self.account, account_nonce__gte=facts.terms.account_nonce
            )
            .select_related("cancellation__execution__sweep")
            .order_by("account_nonce", "-attempt")
            .distinct("account_nonce")
        )

    def _just_signed(self, useful: Sequence[Cancellation]) -> set[int]:
        """Return those with a recent transaction: it may be mined although a lagging node does not show its effect."""
        recent = CancellationTransaction.objects.filter(
            cancellation__in=useful, account=self.account, signed_at__gt=timezone.now() - STUCK_AFTER
        )
        return set(recent.values_list("cancellation_id", flat=True))

    def _renewed(self, row: CancellationTransaction, facts: _Facts) -> CancellationTransaction | _Unsigned:
        """Return the transaction, or its replacement at a higher fee if it has waited for too long."""
        if timezone.now() - row.signed_at < STUCK_AFTER:
            return row
        market = facts.terms.fees(max_fee_cap=self.max_fee_cap)
        paid = Fees(row.max_fee, row.priority_fee)
        fees = paid.raised_to(market, max_fee_cap=self.max_fee_cap) if market is not None else None
        if fees is None:
            self._errors[row.cancellation_id] = FEE_ABOVE_CAP
            return row
        needed = facts.gas.get(row.cancellation_id)
        gas = needed if isinstance(needed, int) else row.gas  # one no longer needed can't be estimated
        return _Unsigned(row.cancellation, row.account_nonce, row.attempt + 1, gas, fees, replaces=row)

    def _first(self, cancellation: Cancellation, facts: _Facts, *, taken: Collection[int]) -> list[_Unsigned]:
        """Return the first transaction of a cancellation, or record the error and return none."""
        gas, fees = facts.gas[cancellation.id], facts.terms.fees(max_fee_cap=self.max_fee_cap)
        if isinstance(gas, CallFailedError):
            error = CONTRACT_REFUSES.format(account=self.account)
        elif fees is None:
            error = FEE_ABOVE_CAP
        elif facts.terms.balance < (needed := gas * fees.max_fee):
            error = INSUFFICIENT_BALANCE.format(account=self.account, balance=facts.terms.balance, needed=needed)
        else:
            free = next(nonce for nonce in count(facts.terms.account_nonce) if nonce not in taken)
            return [_Unsigned(cancellation, free, 0, gas, fees)]
        self._errors[cancellation.id] = error
        return []

    def _signed(self, one: _Unsigned) -> SignedTransaction:
        return self.signer.sign_transaction(
            OutgoingTransaction(
                chain_id=self.chain.chain_id,
                account_nonce=one.account_nonce,
                to=one.cancellation.execution.venue,
                data=_calldata(one.cancellation),
                gas=one.gas,
                fees=one.fees,
            )
        )

    def _store(self, one: _Unsigned, signed: Mapping[_Unsigned, SignedTransaction]) -> CancellationTransaction | None:
        """Store what was signed; without a signature, return the transaction that would have been replaced."""
        if one not in signed:
            return one.replaces
        return CancellationTransaction.objects.create(
            cancellation=one.cancellation,
            network=self.chain.network,
            account=self.account,
            account_nonce=one.account_nonce,
            attempt=one.attempt,
            gas=one.gas,
            max_fee=one.fees.max_fee,
            priority_fee=one.fees.priority_fee,
            tx_hash=signed[one].tx_hash,
            raw=signed[one].raw,
        )

    def _send(self, rows: Sequence[CancellationTransaction]) -> None:
        for row, result in zip(rows, send_all(pool=self.pool, raws=[bytes(row.raw) for row in rows]), strict=True):
            if result in BROADCAST_ERRORS:
                self._errors.setdefault(row.cancellation_id, BROADCAST_ERRORS[result])


def _calldata(cancellation: Cancellation) -> bytes:
    return CANCEL_AUTHORIZATION.encode(int(cancellation.execution.execution_id))


def _with_margin(estimate: object) -> int:
    """Return the gas limit: the next block may need a little more than the estimate."""
    gas = responses.counter(estimate) * 5 // 4
    if not MIN_GAS < gas <= MAX_GAS:
        raise BadResponseError("expected the gas of a transaction")
    return gas
