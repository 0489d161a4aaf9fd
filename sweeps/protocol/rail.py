"""The protocol that every rail implements, and the types that it shares with the rest of the service.

A rail is one way to execute sweeps: a version of our contract on EVM chains, or transactions on another network. The
rest of the service does not depend on which rail it uses. It plans, issues and presents through the rail, has the rail
decide on what it has read, and applies the verdict.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now
from uuid_utils.compat import uuid7

from ledger.models import Settlement
from partners.models import Partner
from sweepapi.fees import FeeRates, Split
from sweepapi.networks import Networks
from sweepapi.worth.left_out import LeftOut
from sweeps.models import Offer, SkippedToken, Sweep, SweepTransaction
from sweeps.protocol.consistency import PricesOfSweep
from sweeps.protocol.presentation import Presentation
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.store.stored import StoredSweep

# --- Building ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeeTerms(FeeRates):
    """The fee, its recipients, and how the partner's share is settled; each field is a column of ``Sweep``."""

    partner_recipient: str | None  # None where the share is paid later
    protocol_recipient: str
    settlement: Settlement

    @classmethod
    def of_today(cls, partner: Partner, protocol_recipient: str, partner_recipient: str | None = None) -> "FeeTerms":
        """Return the terms of a sweep that is built now; without the partner's recipient, its share is paid later."""
        return cls(
            total_fee_bps=settings.TOTAL_FEE_BPS,
            partner_share_bps=partner.share_bps_at(Now()),
            partner_recipient=partner_recipient,
            protocol_recipient=protocol_recipient,
            settlement=Settlement.PAYABLE if partner_recipient is None else Settlement.ON_CHAIN,
        )

    @classmethod
    def of(cls, sweep: Sweep) -> "FeeTerms":
        """Return the terms that a sweep's first offer fixed."""
        return cls(**{term.name: getattr(sweep, term.name) for term in fields(cls)})


@dataclass(frozen=True)
class OutputAsset:
    """The asset that the user receives."""

    asset: str
    symbol: str
    decimals: int


@dataclass(frozen=True)
class PricedToken:
    """One input token, with its expected and minimum output in the output's smallest unit."""

    asset: str
    amount: int
    symbol: str
    decimals: int
    expected_output: int
    min_output: int


@dataclass(frozen=True)
class BuildWarning:
    """Something that a partner should know, and that does not stop the sweep."""

    code: str
    message: str
    token: str | None  # None if it is not about one token


def symbol_warnings(tokens: Sequence[TokenInput], symbols: Mapping[str, str]) -> Iterator[BuildWarning]:
    """Yield a warning for each symbol that was sent and is not the token's own."""
    for token in tokens:
        symbol = symbols[token.asset]
        if token.symbol is not None and token.symbol != symbol:
            yield BuildWarning("symbol_differs", f"The token's symbol is {symbol!r}.", token.asset)


@dataclass(frozen=True)
class PlannedSweep:
    """A sweep that was planned from reads alone; each rail adds what it needs to issue it."""

    partner: Partner
    request: BuildRequest
    output: OutputAsset
    fees: FeeTerms
    tokens: Sequence[PricedToken]
    height: int  # the head that was read
    warnings: Sequence[BuildWarning]
    left_out: Sequence[LeftOut]
    rates: PricesOfSweep

    @property
    def expected(self) -> Split:
        """The split of the expected gross output."""
        return self.fees.split(sum(token.expected_output for token in self.tokens))

    @property
    def minimum(self) -> Split:
        """The split of the minimum gross output, to which a token that the offer drops adds nothing."""
        return self.fees.split(sum(token.min_output for token in self.tokens))

    @property
    def expected_micros(self) -> int | None:
        """The value of the expected gross output in millionths of the reference stablecoin; None if it has no price."""
        value = self.rates.value(self.expected.gross_output)
        return None if value is None or self.rates.reference is None else self.rates.reference.micros(value)


class BelowMinimumError(Exception):
    """At current prices a sweep can't be offered again, because it does not reach what the user signed."""


@dataclass(frozen=True)
class Identity:
    """A reserved execution, and the positions of the planned sweep's tokens that it takes."""

    venue: str
    execution_id: str
    tokens: Sequence[int]
    min_gross: int


@dataclass(frozen=True)
class IssuedSweep:
    """A planned sweep whose identities are reserved and whose messages are signed; each rail adds what it signed."""

    planned: PlannedSweep
    identities: Sequence[Identity]
    deadline: datetime
    sweep_id: UUID = field(default_factory=uuid7, kw_only=True)  # a rail may put it on chain

    def first_check_at(self, now: datetime) -> datetime:  # noqa: ARG002 - a rail may need it
        """Return when to check the sweep if nothing is reported: as soon as its deadline has passed."""
        return self.deadline + timedelta(seconds=1)


IssuedT_co = TypeVar("IssuedT_co", bound=IssuedSweep, covariant=True)


@dataclass(frozen=True)
class Offered(Generic[IssuedT_co]):
    """An issued sweep as it was stored."""

    rail: "Rail"
    sweep: Sweep
    offer: Offer
    issued: IssuedT_co

    @property
    def planned(self) -> PlannedSweep:
        return self.issued.planned


@dataclass(frozen=True)
class Quoted:
    """A planned sweep that is shown and not issued."""

    rail: "Rail"
    planned: PlannedSweep


# --- Following --------------------------------------------------------------------------------------------------------


class Depth(Enum):
    """How deep the block of an accepted transaction lies."""

    UNKNOWN = "unknown"  # not queried, or the provider lags: a lower head is not a reorganisation
    GONE = "gone"
    INCLUDED = "included"
    SAFE = "safe"
    FINAL = "final"


@dataclass(frozen=True)
class Inclusion:
    """Where a transaction was found in a block."""

    block_number: int
    block_hash: str
    gas_used: int


@dataclass(frozen=True)
class Mismatch:
    """One way in which a transaction differs from what was signed."""

    field: str
    code: str
    message: str


@dataclass(frozen=True)
class Skipped:
    """A token that an execution left out."""

    position: int
    reason: SkippedToken.Reason


@dataclass(frozen=True)
class Executed:
    """What an execution paid, and which tokens it left out, in their order."""

    amounts: Split
    skipped: tuple[Skipped, ...] = ()
    is_below_minimum: bool = False  # it paid less than was quoted as the minimum of the tokens that it took
    logs_digest: str = ""  # of the logs that show it, to compare them with those in the final block; blank without logs
    log_position: int | None = None  # of its event among the contract's logs in the transaction; None without logs


@dataclass(frozen=True)
class Waiting:
    """Why a mined transaction does not count yet."""

    awaits: SweepTransaction.Awaits
    is_contradicted: bool = False


@dataclass(frozen=True)
class TransactionVerdict:
    """What a mined transaction means for an execution: it executed it, reverted, or did something else.

    One that was not reported becomes a candidate.
    """

    tx_hash: str
    inclusion: Inclusion
    waiting: Waiting | None = None  # then nothing of the following is concluded yet
    executed: Executed | None = None
    reverted: bool = False
    mismatches: Sequence[Mismatch] = ()  # of one that reverted: why, if the rail can tell already
    is_on_one_word: bool = False  # that of one provider of several


class Ending(Enum):
    """Why an execution can no longer happen."""

    RAN_OUT = "ran_out"
    CANCELLED = "cancelled"
    TAKEN = "taken"  # something that does not match the sweep used its identity on chain


@dataclass(frozen=True)
class Ended:
    """That an execution can no longer happen, and what the chain shows of it."""

    ending: Ending
    reason: str = ""  # for people; blank if the deadline passed
    tx_hash: str | None = None  # of the transaction that ended it; None if the deadline passed


@dataclass(frozen=True)
class ExecutionVerdict:
    """What a check means for one execution.

    For an executed one only ``accepted``, ``log_position``, ``head_number`` and ``obstacle`` count.
    """

    head_number: int = 0
    transactions: Sequence[TransactionVerdict] = ()
    accepted: Depth = Depth.UNKNOWN
    log_position: int | None = None  # as the final block shows it; None if it is not final, or without logs
    ended: Ended | None = None
    raised: frozenset[str] = frozenset()  # flags
    cleared: frozenset[str] = frozenset()
    obstacle: str = ""  # why nothing could be concluded
    search_cursor: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a check means for a sweep, by execution."""

    executions: Mapping[UUID, ExecutionVerdict]
    has_run_out: bool = False  # the network's clock is past the deadline
    is_final: bool = False  # final blocks show it, so it counts for a closed sweep, too


@dataclass(frozen=True)
class FinalSpan:
    readings: Sequence[tuple[UUID, Any]]  # sweeps, open or closed, whose executions were not known, with what was read
    blocks_left: int  # final blocks above the span that can be read now


@dataclass(frozen=True)
class SweepProgress:
    """The facts about a settled, open sweep that determine the time of its next check."""

    network: str
    is_executed: bool  # an execution of it was, and its block is not final yet
    flags: Sequence[str]
    deadline: datetime
    now: datetime
    submitted_at: datetime | None  # of the newest candidate that awaits its receipt; None if there is none
    shown_since: datetime | None  # of the candidate that was shown first and does not count yet; None if there is none
    is_searching: bool
    is_cancelling: bool


class Rail(Protocol):
    """One way to execute sweeps. The values that ``follow`` and ``read`` return are opaque to the caller."""

    @property
    def name(self) -> str:
        """The name under which sweeps store it."""
        ...

    @property
    def mode(self) -> str:
        """Its name in the setting and in the API."""
        ...

    @property
    def present(self) -> Presentation: ...

    def plan(
        self, *, registry: Networks, partner: Partner, request: BuildRequest, renewed: Sweep | None = None
    ) -> PlannedSweep:
        """Plan a sweep by reading the chain; reserves nothing, signs nothing and stores nothing.

        A ``renewed`` sweep keeps its terms; otherwise those of today apply. Raises the errors of a build.
        """
        ...

    def issue(
        self,
        planned: Any,  # noqa: ANN401 - the rail's own PlannedSweep
        *,
        registry: Networks,
        renewed: Sweep | None = None,
    ) -> IssuedSweep:
        """Reserve the identities and sign; a ``renewed`` sweep keeps its identities and deadline.

        Raises the errors of a build, also where the rail can't offer that sweep again.
        """
        ...

    def store(self, offered: Offered[Any]) -> None:
        """Store the facts about an offer that only this rail knows, in the caller's transaction."""
        ...

    def follow(self, sweeps: Sequence[StoredSweep]) -> list[Any]:
        """Return what to read, in the order of the sweeps."""
        ...

    def read(
        self, registry: Networks, network: str, followed: Sequence[Any], *, timeout_seconds: float | None = None
    ) -> Iterator[Sequence[tuple[UUID, Any]]]:
        """Read the network for many sweeps in few round trips; yield each sweep's id with what was read.

        Those that are read at the same time are yielded together. None means that no provider answered. Without a
        timeout, follow-up reads are made as well, such as the search for an execution that was not reported.
        """
        ...

    def find_executed(self, registry: Networks, network: str, venue: str) -> Iterator[FinalSpan]:
        """Yield the next spans of final blocks; one is read again unless the caller settles it and asks for more."""
        ...

    def decide(self, followed: Any, reading: Any) -> Verdict:  # noqa: ANN401 - the rail's own types
        """Return the verdict; pure. The reading may be older than what is followed."""
        ...

    def next_check(self, progress: SweepProgress, verdict: Verdict) -> datetime | None:
        """Return when to check an open sweep again; None if it is enough to follow the block of its execution."""
        ...

    def clock(self, registry: Networks, network: str) -> datetime | None:
        """Return the time of the network's newest safe block; None if it is not known now."""
        ...

    def explain_revert(self, registry: Networks, tx: SweepTransaction, *, timeout_seconds: float) -> Sequence[Mismatch]:
        """Return why a transaction reverted; empty if that can't be found out in time."""
        ...

    def withdraw(self, stored: StoredSweep) -> None:
        """Record, in the caller's transaction, that the executions are to be cancelled on chain.

        Raises ``SweepNotCancellable``, with the reason, where the rail can't do that.
        """
        ...

    def send_withdrawals(self, registry: Networks) -> None:
        """Sign and send what is to be cancelled on chain, and send again what is not mined yet."""
        ...
