"""Sends a deployment's transactions one at a time; after a lost response it sends the same bytes again."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eth_account.signers.local import LocalAccount

from sweepapi.evm.chain.errors import DeploymentError
from sweepapi.evm.chain.sending import (
    AccountState,
    BroadcastResult,
    Fees,
    OutgoingTransaction,
    SignedTransaction,
    account_state_calls,
    account_state_of,
    send,
)
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Receipt
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import CallFailedError, ChainUnavailableError

MINED_WITHIN_SECONDS = 300.0
FIRST_POLL_SECONDS, LAST_POLL_SECONDS = 0.02, 3.0
RESEND_SECONDS = 30.0
# The chain's state may change before the transaction is mined.
ESTIMATE_MARGIN_PERCENT = 120


@dataclass(frozen=True)
class Step:
    """One transaction to send."""

    name: str
    to: str
    data: bytes
    gas_bound: int


@dataclass(frozen=True)
class Sent:
    """A transaction that is signed and about to be sent."""

    name: str
    tx_hash: str


@dataclass(frozen=True)
class Mined:
    """A step that was mined; ``cost`` in wei, without the data fee of some rollups."""

    name: str
    tx_hash: str
    gas_used: int
    cost: int


@dataclass(frozen=True)
class Sender:
    """The sending account; nothing else may send from it at the same time."""

    account: LocalAccount
    chain_id: int
    pool: ProviderPool
    max_fee_cap: int  # wei per unit of gas

    def price_and_balance(self) -> tuple[int, int]:
        """Return the maximum fee per unit of gas now, and the account's balance, in wei."""
        terms = account_state_of(self.pool.batch(account_state_calls(self.account.address)))
        return self._fees(terms).max_fee, terms.balance

    def wait_until_idle(self) -> AccountState:
        """Wait until the account has no pending transactions, and return the terms; raises ``DeploymentError``."""
        pending = Call("eth_getTransactionCount", (self.account.address, "pending"), responses.counter)
        for _ in _polls(MINED_WITHIN_SECONDS):
            *values, sent = self.pool.batch([*account_state_calls(self.account.address), pending])
            if sent <= account_state_of(values).account_nonce:
                return account_state_of(values)
        raise DeploymentError(f"{self.account.address} has pending transactions; run it again later")

    def execute(self, step: Step) -> Iterator[Sent | Mined]:
        """Sign and send the step's transaction; yields it before sending and once mined. Raises ``DeploymentError``."""
        signed = self._signed(step)
        yield Sent(step.name, signed.tx_hash)
        receipt, price = self._mined(step, signed)
        if not receipt.succeeded:
            raise DeploymentError(f"{step.name}: {signed.tx_hash} reverted")
        yield Mined(step.name, signed.tx_hash, receipt.gas_used, receipt.gas_used * price)

    def _signed(self, step: Step) -> SignedTransaction:
        request = {"from": self.account.address, "to": step.to, "data": "0x" + step.data.hex()}
        terms = self.wait_until_idle()
        (gas,) = self.pool.batch([Call("eth_estimateGas", (request,), responses.counter, ErrorPolicy.EXECUTION)])
        if isinstance(gas, CallFailedError):
            raise DeploymentError(f"{step.name} would revert; check the chain and run it again")
        transaction = OutgoingTransaction(
            chain_id=self.chain_id,
            account_nonce=terms.account_nonce,
            to=step.to,
            data=step.data,
            gas=gas * ESTIMATE_MARGIN_PERCENT // 100,
            fees=self._fees(terms),
        )
        return transaction.signed_by(self.account)

    def _fees(self, terms: AccountState) -> Fees:
        fees = terms.fees(max_fee_cap=self.max_fee_cap)
        if fees is None:
            raise DeploymentError(f"the base fee of {terms.base_fee} wei is above the cap")
        return fees

    def _mined(self, step: Step, signed: SignedTransaction) -> tuple[Receipt, int]:
        """Send until the transaction is mined; after a lost response, only the chain knows whether it was sent."""
        resend_at = 0.0
        for _ in _polls(MINED_WITHIN_SECONDS):
            if time.monotonic() >= resend_at:
                reception = self._send(signed)
                resend_at = time.monotonic() + RESEND_SECONDS
            mined = self._receipt(signed)
            if mined is not None:
                return mined
            if reception is not None and reception < BroadcastResult.NONCE_TOO_LOW:
                raise DeploymentError(f"{step.name}: the nodes refuse {signed.tx_hash} ({reception.name.lower()})")
        raise DeploymentError(f"{step.name}: {signed.tx_hash} is not mined yet; run it again later")

    def _send(self, signed: SignedTransaction) -> BroadcastResult | None:
        try:
            return send(pool=self.pool, raw=signed.raw)
        except ChainUnavailableError:
            return None

    def _receipt(self, signed: SignedTransaction) -> tuple[Receipt, int] | None:
        receipt_of = responses.receipt_of(signed.tx_hash)

        def decode(value: object) -> Any:  # noqa: ANN401 - the receipt and the price, or None
            receipt = receipt_of(value)
            return None if receipt is None else (receipt, responses.effective_gas_price(value))

        try:
            found: tuple[Receipt, int] | None
            (found,) = self.pool.batch([Call("eth_getTransactionReceipt", (signed.tx_hash,), decode)])
        except ChainUnavailableError:
            return None
        return found


def _polls(within_seconds: float) -> Iterator[None]:
    """Yield at once and then at growing intervals until the time is up."""
    deadline, pause = time.monotonic() + within_seconds, FIRST_POLL_SECONDS
    while True:
        yield
        if time.monotonic() + pause > deadline:
            return
        time.sleep(pause)
        pause = min(2 * pause, LAST_POLL_SECONDS)
