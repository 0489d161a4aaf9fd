"""What the data of the transactions costs that a user sends, as it was read for their bytes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sweepapi.evm.chain.fee_models.costs import DataCost
from sweepapi.evm.worth.ways import ExecutionWay, SentGas, WayKind


@dataclass(frozen=True)
class DataCosts:
    """The costs of every transaction of the ways to execute a sweep; None for what could not be read."""

    sweeps: Mapping[WayKind, DataCost | None]
    approvals: Mapping[tuple[str, bytes], DataCost | None]  # by target and calldata; those in a batch are part of it

    @property
    def are_known(self) -> bool:
        """Whether all of them could be read."""
        return None not in (*self.sweeps.values(), *self.approvals.values())

    def of(self, way: ExecutionWay) -> list[DataCost | None]:
        """Return the costs of the transactions of a way, in their order."""
        calls = [] if way.is_batch else [call for approval in way.approvals for call in approval.calls]
        return [*(self.approvals.get((call.to, call.data)) for call in calls), self.sweeps.get(way.kind)]

    def sent(self, way: ExecutionWay) -> Iterator[SentGas]:
        """Yield the gas of the transactions of a way with that for their data; an unknown cost adds nothing."""
        for sent, cost in zip(way.sent, self.of(way), strict=True):
            yield sent if cost is None else SentGas(sent.gas + cost.gas, sent.gas_limit + cost.most_gas)

    def fee(self, way: ExecutionWay) -> int | None:
        """Return what is charged in addition to the gas, in wei; None if it is not known for each transaction."""
        fee = 0
        for sent, cost in zip(way.sent, self.of(way), strict=True):
            if cost is None:
                return None
            fee += cost.fee(sent.gas)
        return fee

    def most_fees(self, way: ExecutionWay) -> list[int]:
        """Return the most that each transaction is charged in addition to its gas, in wei; zero if not known."""
        return [
            0 if cost is None else cost.most_fee(sent.gas_limit)
            for sent, cost in zip(way.sent, self.of(way), strict=True)
        ]
