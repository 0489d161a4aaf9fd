"""What a rail on an EVM chain owes beyond the protocol of all rails, for the shapes of ``/v2``."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol
from uuid import UUID

from rest_framework.serializers import Serializer

from partners.models import Partner
from sweepapi.evm.encoding.responses import Log
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.protocol.presentation import Presentation
from sweeps.protocol.rail import Rail
from sweeps.protocol.request import DiscoverRequest
from sweeps.rails.evm.discover.found import EvmDiscovery
from sweeps.rails.evm.finalize.finalizing import FinalizedSweep, Signed
from sweeps.rails.evm.finalize.stored_offer import Issuer
from sweeps.rails.evm.follow.emitted import Emitted
from sweeps.rails.evm.follow.followed import ContractTerms
from sweeps.store.stored import StoredSweep


class EvmShapes(Presentation, Protocol):
    """How a version of our contract shows its sweeps."""

    @property
    def quote(self) -> type[Serializer[Any]]:
        """The serializer of a ``Quoted``."""
        ...

    @property
    def discovery(self) -> type[Serializer[Any]]:
        """The serializer of a ``EvmDiscovery``."""
        ...

    @property
    def finalize_request(self) -> type[Serializer[Any]]:
        """The serializer of the body of a request to finalize."""
        ...

    @property
    def signed(self) -> Callable[[Mapping[str, Any]], Signed]:
        """Returns what a validated body has that was signed."""
        ...

    @property
    def finalized(self) -> type[Serializer[Any]]:
        """The serializer of a ``FinalizedSweep``."""
        ...

    @property
    def refreshed(self) -> type[Serializer[Any]]:
        """The serializer of the answer to a refresh, for its documentation."""
        ...


class EvmRail(Rail, Issuer, Protocol):
    """A version of our contract."""

    @property
    def present(self) -> EvmShapes: ...

    @property
    def contract_version(self) -> str:
        """The version as partners know it, such as ``v5``."""
        ...

    @property
    def contract_name(self) -> str:
        """The contract's name in Solidity and in the specification of a deployment."""
        ...

    @property
    def event_topics(self) -> tuple[str, ...]:
        """The first topics of the events that say what became of an execution; the second topic identifies it."""
        ...

    def discover(self, *, registry: Networks, partner: Partner, request: DiscoverRequest) -> EvmDiscovery:
        """Read a wallet, and try the sale of each of its tokens; raises the errors of a build."""
        ...

    def finalize(self, registry: Networks, sweep: Sweep, signed: Signed) -> FinalizedSweep:
        """Return the transaction of a sweep's newest offer with the user's signatures; see ``finalizing``."""
        ...

    def execution_id(self, topic: str) -> str:
        """Return which execution an event with this second topic is about."""
        ...

    def named_sweep(self, execution_id: str) -> UUID | None:
        """Return the id of the sweep that an execution names; None unless the service could have made its id."""
        ...

    def emitted(self, log: Log) -> Emitted | None:
        """Return the event of a log with one of these topics; None if the contract can't have emitted it."""
        ...

    def terms(self, stored: StoredSweep) -> ContractTerms:
        """Return what an event must say about the sweep."""
        ...

    def authorization_nonce(self, execution_id: str) -> str | None:
        """Return the nonce of the fee authorization that identifies an execution; None for versions without one."""
        ...
