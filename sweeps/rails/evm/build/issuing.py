"""What every contract version on EVM chains needs to issue a planned sweep: route, call, and the user's permit."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from django.conf import settings

from sweepapi.errors import NewBuildRequired
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.costs import with_data
from sweepapi.evm.contracts import batch
from sweepapi.evm.contracts.permit2 import BITS_PER_WORD, BatchPermit, Witness
from sweepapi.evm.encoding.abi import Function, error_abi, function_abi
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.encoding.responses import Block
from sweepapi.evm.pools import finder
from sweepapi.evm.pools.types import PoolHop
from sweepapi.evm.trial.legs import LegSwap, PoolSwap, RouterSwap, WrappedSwap
from sweepapi.evm.worth.ways import WayKind
from sweeps.models import Sweep
from sweeps.protocol.rail import IssuedSweep
from sweeps.rails.evm.build.stages import EvmPlanned, EvmSimulated, SignedTerms
from sweeps.rails.evm.models import PermitNonces

# Permit2's nonces are unordered: 2^248 words of 256. Ours begin at a word that no other application has a reason to
# use; the top bits stay clear, so that counting up never leaves the range.
FIRST_PERMIT_WORD = int(keccak_hex(b"sweepapi permit2 nonces"), 16) >> 16


class PermittedToken(Protocol):
    """A token of a planned or a stored sweep."""

    @property
    def asset(self) -> str: ...

    @property
    def amount(self) -> int: ...


@dataclass(frozen=True)
class ContractCall:
    """The call that executes a sweep, with a placeholder for the user's signature, which is its last argument."""

    to: str
    function_name: str
    abi: Sequence[Mapping[str, Any]]  # the function, and the errors that it may revert with
    arguments: Sequence[Any]
    calldata: bytes
    signature_offset: int

    value = 0
    signature_length = batch.SIGNATURE_BYTES

    @property
    def length_offset(self) -> int:
        """Where the word with the length of the signature begins."""
        return self.signature_offset - batch.WORD

    @property
    def signature_index(self) -> int:
        """The position of the signature among the arguments."""
        return len(self.arguments) - 1


@dataclass(frozen=True)
class EvmIssued(IssuedSweep):
    """A issued sweep on an EVM chain."""

    planned: EvmSimulated
    route: batch.BatchRoute
    permit: TypedData
    permission: batch.Permission
    call: ContractCall
    entry_points: batch.EntryPoints

    @property
    def gas(self) -> int:
        """The gas limit, with a margin."""
        return with_data(self.planned.gas.limit(), self.planned.sweep_cost(WayKind.PERMIT2))

    @property
    def data_fee(self) -> int | None:
        """What the chain charges for the transaction's data in addition to its gas, in wei."""
        cost = self.planned.sweep_cost(WayKind.PERMIT2)
        return None if cost is None else cost.fee(self.planned.gas.used)

    @property
    def expires_in_seconds(self) -> int:
        """How many seconds are left by the chain's clock."""
        return seconds_left(self.deadline, self.planned.head)

    @property
    def fee_authorization(self) -> Mapping[str, Any] | None:
        """The signed authorization as partners see it; None for contracts that need none."""
        return None


def permit_words(*, network: str, wallet: str) -> tuple[int, ...]:
    """Return the positions of the words in which the wallet's next Permit2 nonce will lie."""
    row = PermitNonces.objects.filter(network=network, wallet=wallet).first()
    word = FIRST_PERMIT_WORD + (row.next_index if row is not None else 0) // BITS_PER_WORD
    return (word, word + 1)


def reserve_permission(planned: EvmPlanned) -> batch.Permission:
    """Reserve what the user signs for a new sweep, in the caller's transaction: a nonce and a new deadline."""
    nonce = reserve_permit_nonce(
        network=planned.market.chain.network, wallet=planned.request.wallet, used_words=planned.used_permit_words
    )
    return batch.Permission(nonce, new_deadline(planned.head))


def reserve_permit_nonce(*, network: str, wallet: str, used_words: Mapping[int, int]) -> int:
    """Reserve a wallet's next Permit2 nonce; ``used_words`` is Permit2's bitmap by word position, as just read.

    Runs in the caller's transaction. A nonce is never reserved twice; a build that fails after its reservation leaves
    a gap.
    """
    row, _ = PermitNonces.objects.select_for_update().get_or_create(network=network, wallet=wallet)
    index = row.next_index
    while _is_used(index, used_words):
        index += 1
    row.next_index = index + 1
    row.save(update_fields=["next_index"])
    return FIRST_PERMIT_WORD * BITS_PER_WORD + index


def _is_used(index: int, used_words: Mapping[int, int]) -> bool:
    word, bit = divmod(index, BITS_PER_WORD)
    # A word beyond those that were read was reached by other builds meanwhile, which had read it.
    return bool(used_words.get(FIRST_PERMIT_WORD + word, 0) >> bit & 1)


def new_deadline(head: Block) -> int:
    """Return the deadline of what is signed now, in seconds since 1970.

    It counts from the later of both clocks: the chain's decides, and it may be behind or ahead of the server's.
    """
    deadline: int = max(int(time.time()), head.timestamp) + settings.AUTHORIZATION_TTL_SECONDS
    return deadline


def seconds_left(deadline: datetime, head: Block) -> int:
    """Return how many seconds are left until a deadline by the chain's clock; 0 once it has passed."""
    return max(int(deadline.timestamp()) - head.timestamp, 0)


def permission_of(sweep: Sweep) -> batch.Permission:
    """Return what the user signed for the first offer of a sweep, which is good for every other one."""
    return batch.Permission(sweep.permit.nonce, int(sweep.deadline.timestamp()))


def deadline_of(permission: batch.Permission) -> datetime:
    """Return the deadline of the permission as a time."""
    return datetime.fromtimestamp(permission.deadline, tz=UTC)


def permit_of(
    tokens: Sequence[PermittedToken], *, chain: Chain, contract: str, permission: batch.Permission, witness: Witness
) -> TypedData:
    """Return what the user signs to have these tokens pulled by the contract."""
    permit = BatchPermit(
        spender=contract,
        permitted=[(token.asset, token.amount) for token in tokens],
        nonce=permission.nonce,
        deadline=permission.deadline,
        witness=witness,
    )
    return permit.typed_data(chain_id=chain.chain_id, permit2=chain.permit2)


def call_of(planned: EvmPlanned, *, contract_name: str, function: Function, arguments: Sequence[Any]) -> ContractCall:
    """Return the call of the contract's ``sweep``."""
    calldata = function.encode(*arguments)
    return ContractCall(
        to=planned.contract,
        function_name="sweep",
        abi=[function_abi(contract_name, "sweep"), *error_abi(contract_name)],
        arguments=arguments,
        calldata=calldata,
        signature_offset=batch.signature_offset(calldata),
    )


def signed_terms_of(sweep: Sweep, *, contract: str) -> SignedTerms:
    """Return what the user signed for the first offer of a sweep in addition to its tokens.

    Raises ``NewBuildRequired`` if that was for another contract, where the execution's id may belong to another sweep.
    """
    if sweep.executions.get().venue != contract:
        raise NewBuildRequired("The contract was replaced since this sweep was built; build a new one.")
    return SignedTerms(sweep.permit.floors, sweep.permit.max_skipped)


def route_of(planned: EvmPlanned) -> batch.BatchRoute:
    """Return the route as the contract takes it, with the calls of routers encoded."""
    return batch.BatchRoute(
        legs=[
            batch.BatchLeg(token.asset, token.amount, token.floor, hop_of(token.swap, skippable=token.skippable))
            for token in planned.tokens
        ],
        last_hop=in_pool(planned.last_hop) if planned.last_hop is not None else batch.BatchHop(),
        max_skipped=planned.max_skipped,
        router_calls=[
            _router_call(position, token.swap, min_output=token.min_output, recipient=planned.contract)
            for position, token in enumerate(planned.tokens)
            if isinstance(token.swap, RouterSwap)
        ],
    )


def hop_of(swap: LegSwap | None, *, skippable: bool) -> batch.BatchHop:
    """Return a leg's hop as the contract takes it; the offer drops a leg without a swap."""
    match swap:
        case None:
            return batch.BatchHop(dropped=True)
        case PoolSwap(hop=hop, joined=joined, least_wrapped=least, price_limit=limit):
            return replace(in_pool(hop), joined=joined, skippable=skippable, price_limit=limit, least=least)
        case WrappedSwap(joined=joined):
            return batch.BatchHop(joined=joined)
        case RouterSwap():
            return batch.BatchHop()


def in_pool(hop: PoolHop) -> batch.BatchHop:
    """Return a swap in a pool as the contract takes it."""
    return batch.BatchHop(fee=hop.fee_tier or 0, venue=hop.venue.id)


def _router_call(position: int, swap: RouterSwap, *, min_output: int, recipient: str) -> batch.RouterCall:
    data = finder.swap_call(swap.route, amount_in=swap.amount_in, min_output=min_output, recipient=recipient)
    return batch.RouterCall(position, swap.route.router.address, data)
