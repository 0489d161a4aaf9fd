"""What compares the books of a family of networks with the chain, and repairs them."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from partners.models import Partner
from sweepapi.networks import Networks
from sweeps.books.comparison import Adoption, Blocks, Report
from sweeps.protocol.rail import FinalSpan


class Auditor(Protocol):
    """Reads final blocks as two providers show them; every method raises ``ChainUnavailableError`` if they do not."""

    def final_blocks(self, registry: Networks, network: str, *, first: int | None, last: int | None) -> Blocks:
        """Return the blocks of this range that are final, by default from before the first build on."""
        ...

    def last_day(self, registry: Networks, network: str, *, compared: int | None) -> Blocks:
        """Return the settled blocks of the last day, and those above the one that was compared last."""
        ...

    def compare(self, registry: Networks, network: str, blocks: Blocks) -> Report:
        """Return how the books differ from these blocks; changes nothing."""
        ...

    def find_executed(self, registry: Networks, network: str, blocks: Blocks) -> Iterator[FinalSpan]:
        """Yield what these blocks say of sweeps that are not settled accordingly, for the caller to settle."""
        ...

    def adopt(
        self, registry: Networks, network: str, blocks: Blocks, *, named: Mapping[str, Partner], by: str
    ) -> Iterator[Adoption]:
        """Adopt the executions that we do not know; ``named`` has the partners that operators named, by transaction."""
        ...
