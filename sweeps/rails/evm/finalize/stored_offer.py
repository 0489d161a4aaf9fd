"""Reads back what an offer has the user sign and send, from the rows that it was stored in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import Any, Protocol, TypeVar

from sweepapi.errors import NewBuildRequired
from sweepapi.evm.chain.chains import Chain, Router, Venue
from sweepapi.evm.contracts import batch
from sweepapi.evm.contracts.permit2 import Witness
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.encoding.responses import Log
from sweepapi.evm.pools.types import Hop, PoolHop, Route
from sweepapi.evm.tokens.erc20 import UNLIMITED
from sweepapi.evm.tokens.token_permits import PermitKind, TokenPermits
from sweepapi.evm.trial.legs import LegSwap, PoolSwap, RouterSwap, WrappedSwap
from sweepapi.evm.trial.sweep_gas import SweepGas
from sweeps.models import Offer, Sweep
from sweeps.rails.evm.build.issuing import hop_of, in_pool, permission_of, permit_of
from sweeps.rails.evm.build.prompts import NeededPermit
from sweeps.rails.evm.models import LastHop, Leg, LegPermit

OTHER_VENUES = "The chain's venues or routers changed since this sweep was offered; refresh it."

NamedT = TypeVar("NamedT", Venue, Router)


class Issuer(Protocol):
    """What a version of our contract knows of the sweeps that it issued."""

    @property
    def entry_points(self) -> batch.EntryPoints:
        """The functions that execute a sweep."""
        ...

    def witness_of(self, sweep: Sweep) -> Witness:
        """Return what the user of a stored sweep signs in addition to its tokens."""
        ...

    def arguments_of(self, offer: Offer, route: batch.BatchRoute) -> Sequence[Any]:
        """Return the arguments of ``sweep`` for an offer with this route, with a placeholder for the signature.

        Raises ``NewBuildRequired`` if the route is not the one that was issued.
        """
        ...

    def gross_output(self, log: Log) -> int | None:
        """Return the output of an executed sweep before the fee, from its event; None for another log."""
        ...


@dataclass(frozen=True)
class StoredOffer:
    """The newest offer of a sweep."""

    issuer: Issuer
    chain: Chain
    sweep: Sweep
    offer: Offer

    @classmethod
    def newest(cls, issuer: Issuer, chain: Chain, sweep: Sweep) -> "StoredOffer":
        """Read it."""
        return cls(issuer, chain, sweep, sweep.offers.order_by("-sequence")[0])

    @cached_property
    def contract(self) -> str:
        """The address of the contract that executes it."""
        return self.sweep.executions.get().venue

    @cached_property
    def tokens(self) -> list[str]:
        """The tokens of its legs, in their order."""
        return [leg.token.asset for leg in self._legs]

    @cached_property
    def swept(self) -> Mapping[str, int]:
        """The amounts of the tokens that it does not drop."""
        return {leg.token.asset: leg.token.amount for leg in self._legs if leg.hop != Leg.Hop.DROPPED}

    @cached_property
    def permit(self) -> TypedData:
        """What the user signs for Permit2."""
        return signed_permit(self.issuer, self.chain, self.sweep)

    @cached_property
    def token_permits(self) -> list[NeededPermit]:
        """The tokens' own permits that the user can sign before that; empty if the offer can't be executed so."""
        rows = LegPermit.objects.filter(leg__offer=self.offer).select_related("leg__token")
        return [self._needed(row) for row in rows.order_by("leg__token__position")]

    def typed_data(self, permits: Sequence[NeededPermit]) -> list[TypedData]:
        """Return what the user signs, in order, with these permits of tokens."""
        deadline = permission_of(self.sweep).deadline
        signed = [permit.typed_data(self.chain, owner=self.sweep.wallet, deadline=deadline) for permit in permits]
        return [*signed, self.permit]

    def calldata(self, permits: Sequence[NeededPermit]) -> bytes:
        """Return the call of the contract, with placeholders for the signatures of these permits and the user's own."""
        arguments = self.issuer.arguments_of(self.offer, self.route)
        if not permits:
            return self.issuer.entry_points.sweep.encode(*arguments)
        deadline = permission_of(self.sweep).deadline
        encoded = [permit.argument(deadline) for permit in permits]
        return self.issuer.entry_points.encode_with_permits(arguments, encoded)

    @cached_property
    def route(self) -> batch.BatchRoute:
        """The route, as the contract takes it."""
        legs = zip(self._legs, self._swaps, self.sweep.permit.floors, strict=True)
        return batch.BatchRoute(
            legs=[
                batch.BatchLeg(leg.token.asset, leg.token.amount, floor, hop_of(swap, skippable=leg.skippable))
                for leg, swap, floor in legs
            ],
            last_hop=batch.BatchHop() if self._last_hop is None else in_pool(self._last_hop),
            max_skipped=self.sweep.permit.max_skipped,
            router_calls=[
                batch.RouterCall(position, leg.target, bytes(leg.data))
                for position, leg in enumerate(self._legs)
                if leg.hop == Leg.Hop.ROUTER and leg.target is not None
            ],
        )

    def gas(self, *, has_code: bool) -> SweepGas:
        """Return what the gas of the sweep depends on."""
        pools = [swap for leg, swap in zip(self._legs, self._swaps, strict=True) if leg.skippable]
        return SweepGas(
            swaps=[swap for swap in self._swaps if swap is not None],
            last_hop=self._last_hop,
            signed_token_count=len(self._legs),
            skippable=[swap.hop for swap in pools if isinstance(swap, PoolSwap)],
            max_skipped=self.sweep.permit.max_skipped,
            has_used_word=False,
            has_code=has_code,
            tried_least=None,
            tried_used=None,
            untried=0,
        )

    @cached_property
    def _legs(self) -> list[Leg]:
        return list(Leg.objects.filter(offer=self.offer).select_related("token").order_by("token__position"))

    @cached_property
    def _swaps(self) -> list[LegSwap | None]:
        return [self._swap(leg) for leg in self._legs]

    @cached_property
    def _last_hop(self) -> PoolHop | None:
        row = LastHop.objects.filter(offer=self.offer).first()
        if row is None:
            return None
        venue = _named(self.chain.venues, row.venue)
        # Between which tokens it swaps does not matter any more: the contract finds the pool itself.
        return PoolHop(venue, self.chain.wrapped_native, self.sweep.output_asset, row.fee_tier, row.pool)

    def _swap(self, leg: Leg) -> LegSwap | None:
        is_joined = leg.hop == Leg.Hop.JOINED
        if leg.hop == Leg.Hop.DROPPED:
            return None
        if leg.target is None:
            return WrappedSwap(joined=is_joined)
        pairs = pairwise(leg.path)
        hops = tuple(Hop(token_in, token_out, fee) for (token_in, token_out), fee in zip_longest(pairs, leg.fee_tiers))
        if leg.hop == Leg.Hop.ROUTER:
            return RouterSwap(Route(_named(self.chain.routers, leg.exchange), hops, pools=()), leg.token.amount)
        pool = PoolHop(_named(self.chain.venues, leg.exchange), *hops[0], leg.target)
        return PoolSwap(pool, joined=is_joined, least_wrapped=leg.least_wrapped or 0, price_limit=leg.price_limit)

    def _needed(self, row: LegPermit) -> NeededPermit:
        token = row.leg.token
        taken = TokenPermits(PermitKind[row.kind], row.name, row.version, row.nonce)
        return NeededPermit(
            token.position, token.asset, taken, UNLIMITED if self.sweep.unlimited_approvals else token.amount
        )


def signed_permit(issuer: Issuer, chain: Chain, sweep: Sweep) -> TypedData:
    """Return what the user of a stored sweep signs for Permit2."""
    (execution,) = sweep.executions.all()
    return permit_of(
        list(sweep.tokens.all()),
        chain=chain,
        contract=execution.venue,
        permission=permission_of(sweep),
        witness=issuer.witness_of(sweep),
    )


def _named(known: Iterable[NamedT], name: str) -> NamedT:
    for one in known:
        if one.name == name:
            return one
    raise NewBuildRequired(OTHER_VENUES)
