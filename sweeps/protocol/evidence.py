"""What a rail can show of an execution in a receipt, and what of the receipt anyone can check on chain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sweepapi.evm.encoding.eip712 import TypedData


@dataclass(frozen=True)
class ContractEvent:
    """The event that the contract emitted for the execution."""

    signature: str  # in Solidity
    fields: Mapping[str, str]  # all values by their names, as text


@dataclass(frozen=True)
class SignedAuthorization:
    """The fee authorization of one offer; all offers of a sweep have the same terms, and only one is executed."""

    offer: int
    typed_data: TypedData
    digest: str
    signature: str
    signer: str


@dataclass(frozen=True)
class Evidence:
    """What a rail shows of one execution. ``verifiable`` and ``attested`` are paths in the receipt."""

    event: ContractEvent | None  # None on Solana, which has no events
    authorizations: Sequence[SignedAuthorization]
    verifiable: Sequence[str]
    attested: Sequence[str]
    recomputation: Mapping[str, str]  # how the amounts follow from each other


SPLIT = {
    "totalFee": "floor(grossOutput * totalFeeBps / 10000)",
    "partnerFee": "floor(totalFee * partnerShareBps / 10000)",
    "protocolFee": "totalFee - partnerFee",
    "userAmount": "grossOutput - totalFee",
}
# What no chain shows: our ids, our books, and how an asset is shown.
ATTESTED = ("sweepId", "partnerId", "createdAt", "confirmedAt", "outputSymbol", "outputDecimals", "entries")
VERIFIABLE = ("network", "wallet", "operations[].address", "operations[].id", "operations[].transaction")
_AMOUNTS = ("operations[].amounts", "amounts")
# Where the partner is paid later, the chain shows the whole fee, and only our books the partner's part of it.
PAID_AT_ONCE = tuple(f"{where}.{name}" for where in _AMOUNTS for name in ("grossOutput", "totalFee", "userAmount"))
PAID_LATER = (
    "fee.partnerShareBps",
    *(f"{where}.{name}" for where in _AMOUNTS for name in ("partnerFee", "protocolFee")),
)
