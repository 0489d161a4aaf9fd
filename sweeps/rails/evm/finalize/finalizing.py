"""Finalizes a stored sweep with signatures, in two round trips: the account is asked, then the transaction is tried.

Signatures go to the chain's provider and into the answer, and nowhere else: no row, log or error has one.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sweepapi.errors import ChainUnavailable, ExecutionNotOffered, FieldError, InvalidRequest, WouldRevert
from sweepapi.evm.chain.blocks import head_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.costs import DataCost, UnsignedTransaction, with_data
from sweepapi.evm.chain.multicall import multicall
from sweepapi.evm.contracts.batch import with_signatures
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block
from sweepapi.evm.reverts.decoding import RevertReason
from sweepapi.evm.reverts.explaining import explain
from sweepapi.evm.reverts.replaying import read_revert
from sweepapi.evm.tokens.erc20 import account_reads
from sweepapi.evm.trial import simulation
from sweepapi.evm.trial.attempts import TriedCall
from sweepapi.evm.trial.simulation import TriedResult
from sweepapi.evm.trial.sweep_gas import TRANSACTION_CAP, SweepGas
from sweepapi.evm.wallet.accounts import AccountCode
from sweepapi.evm.worth.ways import WayKind
from sweepapi.networks import Networks
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import BadResponseError, CallFailedError, ChainUnavailableError
from sweeps.models import Sweep
from sweeps.rails.evm.build.issuing import seconds_left
from sweeps.rails.evm.build.prompts import NeededPermit
from sweeps.rails.evm.finalize.stored_offer import Issuer, StoredOffer
from sweeps.rails.evm.finalize.verifying import Verification, WalletCode

NO_PERMITS = "The newest offer of this sweep can't be executed by `permits`; `permit2` is left."
TOO_LITTLE = "{token}: the wallet holds {held}, less than the {needed} that are swept."
NOT_APPROVED = "{token}: Permit2 may take {given}, less than the {needed} that are swept. Send its approval first."
ACCOUNT_GAS_LIMIT = 1_000_000  # far above what reads of a token need
OTHER_COUNT = "This execution has {needed} signatures, one for each of its `typedData`, in that order."
RETRY_AFTER_SECONDS = 5


@dataclass(frozen=True)
class Signed:
    """What a wallet returned for the typed data of an execution, in order."""

    kind: WayKind
    signatures: Sequence[bytes] = field(repr=False)


@dataclass(frozen=True)
class FinalizedSweep:
    """A sweep with a transaction that is ready to be sent."""

    sweep: Sweep
    chain: Chain
    kind: WayKind
    contract: str
    calldata: bytes = field(repr=False)
    wallet: WalletCode
    gas: int  # the limit to send, with a margin
    data_fee: int | None  # what a rollup charges in addition, in wei; None if it could not be read
    gas_used: int | None  # as the receipt would show it; None if the provider does not simulate transactions
    gross_output: int | None  # before the fee, in the output's smallest unit; None as above
    expires_in_seconds: int  # by the chain's clock

    value = 0


@dataclass(frozen=True)
class _Tried:
    """What the chain does with the completed transaction now."""

    head: Block
    least_gas: int
    data_cost: DataCost | None  # None if it could not be read
    result: TriedResult | None  # None if the provider does not simulate transactions

    def limit(self, gas: SweepGas) -> int:
        """Return the gas limit; where the data costs gas, the estimate has that, too, and the margin is another."""
        used_by_data = 0 if self.data_cost is None else self.data_cost.gas
        return with_data(gas.limit_of_signed(self.least_gas - used_by_data), self.data_cost)

    @property
    def data_fee(self) -> int | None:
        """What is charged for the data in addition to the gas, in wei; None if it could not be read."""
        used = self.least_gas if self.result is None else self.result.gas_used
        return None if self.data_cost is None else self.data_cost.fee(used)


def finalize(issuer: Issuer, registry: Networks, sweep: Sweep, signed: Signed) -> FinalizedSweep:
    """Return the transaction of the sweep's newest offer with these signatures.

    Raises ``ExecutionNotOffered``, ``InvalidRequest`` for another number of signatures, ``SignatureInvalid``,
    ``WouldRevert``, ``ChainUnavailable``, and ``NewBuildRequired`` if the offer can't be read back.
    """
    chain, pool = registry.chain(sweep.network), registry.pool(sweep.network)
    offer = StoredOffer.newest(issuer, chain, sweep)
    permits = _permits(offer, signed)
    verification = Verification(issuer, registry, sweep, offer.typed_data(permits), signed.signatures)
    of_keys = verification.keys_signatures()
    signature, wallet = verification.permit2_signature(_batch(pool, verification.calls))
    calldata = with_signatures(offer.calldata(permits), permits=of_keys, signature=signature)
    tried = _try(pool, offer, calldata, approved=[permit.token for permit in permits])
    gross_outputs = [issuer.gross_output(log) for log in tried.result.logs] if tried.result is not None else []
    return FinalizedSweep(
        sweep=sweep,
        chain=chain,
        kind=signed.kind,
        contract=offer.contract,
        calldata=calldata,
        wallet=wallet,
        gas=tried.limit(offer.gas(has_code=wallet.kind is not AccountCode.NONE)),
        data_fee=tried.data_fee,
        gas_used=None if tried.result is None else tried.result.gas_used,
        gross_output=next((output for output in gross_outputs if output is not None), None),
        expires_in_seconds=seconds_left(sweep.deadline, tried.head),
    )


def _permits(offer: StoredOffer, signed: Signed) -> Sequence[NeededPermit]:
    permits = offer.token_permits if signed.kind is WayKind.PERMITS else []
    if signed.kind is WayKind.PERMITS and not permits:
        raise ExecutionNotOffered(NO_PERMITS)
    needed = len(permits) + 1
    if len(signed.signatures) != needed:
        raise InvalidRequest(details=[FieldError("signatures", "wrong_count", OTHER_COUNT.format(needed=needed))])
    return permits


def _try(pool: ProviderPool, offer: StoredOffer, calldata: bytes, *, approved: Collection[str]) -> _Tried:
    """Try the transaction in one round trip; ``approved`` are the tokens that it has permits of.

    Raises ``WouldRevert``.
    """
    chain, sender = offer.chain, offer.sweep.wallet
    call = TriedCall(offer.contract, calldata, TRANSACTION_CAP)
    data = chain.data_reads([UnsignedTransaction(offer.contract, calldata)])
    held = [_account_reads(offer, token) for token in offer.swept]
    trial = [_estimate(sender, call), simulation.one_call(sender=sender, call=call)]
    head, least, result, *read = _batch(pool, [head_call(), *trial, *data.calls, *held])
    costs, accounts = read[: len(data.calls)], read[len(data.calls) :]
    if isinstance(least, RevertReason):
        missing = list(_missing(offer, accounts, approved))
        raise WouldRevert(details=missing or [_explained(least, offer.tokens)])
    return _Tried(
        head,
        least,
        data.costs(costs)[0],
        result if isinstance(result, TriedResult) and result.succeeded else None,
    )


def _account_reads(offer: StoredOffer, token: str) -> Call:
    """Return the call that reads what the wallet has of a token, which says why most transactions revert."""
    chain = offer.chain
    reads = account_reads(token=token, wallet=offer.sweep.wallet, permit2=chain.permit2, contract=offer.contract)
    return multicall(
        multicall3=chain.multicall3, reads=reads, error_policy=ErrorPolicy.EXECUTION, gas=ACCOUNT_GAS_LIMIT
    )


def _missing(offer: StoredOffer, accounts: Sequence[Any], approved: Collection[str]) -> Iterator[FieldError]:
    """Yield the tokens of which the wallet holds too little, or that Permit2 may not take."""
    for (token, amount), account in zip(offer.swept.items(), accounts, strict=True):
        if isinstance(account, CallFailedError) or None in account:
            continue
        (balance,), (allowance,), _ = account
        field = f"tokens[{offer.tokens.index(token)}].mint"
        if balance < amount:
            yield FieldError(field, "insufficient_balance", TOO_LITTLE.format(token=token, held=balance, needed=amount))
        elif allowance < amount and token not in approved:
            yield FieldError(field, "not_approved", NOT_APPROVED.format(token=token, given=allowance, needed=amount))


def _estimate(sender: str, call: TriedCall) -> Call:
    """Return the call that finds the least gas limit; its result is the reason if the transaction reverts."""
    transaction = {"from": sender, "to": call.to, "data": f"0x{call.data.hex()}", "gas": hex(call.gas)}
    return Call("eth_estimateGas", (transaction, "latest"), responses.counter, read_error=_reason)


def _reason(error: object) -> RevertReason:
    reason = read_revert(error)
    if reason is None:
        raise BadResponseError("the node could not estimate the gas")
    return reason


def _explained(reason: RevertReason, tokens: Sequence[str]) -> FieldError:
    explained = explain(reason, tokens=tokens)
    if explained.token is None:
        return FieldError("transaction", "reverted", explained.message)
    return FieldError(
        f"tokens[{tokens.index(explained.token)}].mint", "reverted", f"{explained.token}: {explained.message}"
    )


def _batch(pool: ProviderPool, calls: Sequence[Call]) -> list[Any]:
    try:
        return pool.batch(calls)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from error
