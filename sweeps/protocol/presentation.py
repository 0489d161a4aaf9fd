"""How a rail shows its sweeps to partners and to operators."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from rest_framework.serializers import Serializer

from sweepapi.networks import Networks
from sweeps.models import Execution, Sweep
from sweeps.protocol.evidence import Evidence

Snapshot = dict[str, Any]  # a sweep as one statement read it
Part = dict[str, Any]  # what is shown of it, as JSON


class NetworkStatus(Protocol):
    """A network and the rail that builds on it; each presentation adds what its serializer shows."""

    @property
    def is_available(self) -> bool: ...


class Presentation(Protocol):
    """How a rail shows its sweeps."""

    @property
    def answer(self) -> type[Serializer[Any]]:
        """The serializer of an ``Offered``."""
        ...

    @property
    def state(self) -> type[Serializer[Any]]:
        """The serializer that describes the status object."""
        ...

    @property
    def status_object(self) -> Callable[[Snapshot, Any], Part]:
        """Returns the JSON of a snapshot of a sweep, given its rail: which ``state`` describes."""
        ...

    @property
    def evidence(self) -> Callable[[Sweep, Execution], Evidence]:
        """Returns what a receipt shows of an executed execution."""
        ...

    @property
    def network(self) -> type[Serializer[Any]]:
        """The serializer of a ``NetworkStatus``."""
        ...

    @property
    def hard_cap_bps(self) -> int:
        """The highest total fee that the rail allows."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens one sweep can take."""
        ...

    def networks(self, registry: Networks, rails: Mapping[str, Any]) -> Sequence[NetworkStatus]:
        """Return whether sweeps can be built now on each of these networks with its rail; bounded in time.

        The rails are those that share this presentation.
        """
        ...

    def obstacles(self, sweep: Sweep) -> Iterable[str]:
        """Return, as sentences for operations, what keeps an open sweep from being cancelled on request."""
        ...

    def admin_facts(self, sweep: Sweep) -> Iterable[tuple[str, str]]:
        """Return the facts about a sweep that only this rail knows, as labels and values for operators."""
        ...
