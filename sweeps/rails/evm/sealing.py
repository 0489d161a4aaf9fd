"""The parts of sealing a draft that every contract version on EVM chains needs: legs, and the user's Permit2 nonce."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.conf import settings

from sweepapi.evm import batch
from sweepapi.evm.abi import Function, error_abi, function_abi
from sweepapi.evm.addresses import ZERO_ADDRESS, keccak_hex
from sweepapi.evm.chains import Chain
from sweepapi.evm.eip712 import TypedData
from sweepapi.evm.permit2 import BITS_PER_WORD, BatchPermit, Witness
from sweepapi.evm.responses import Block
from sweepapi.evm.routes import finder
from sweeps.models import Sweep
from sweeps.rails.evm.draft import EvmDraft, EvmToken
from sweeps.rails.evm.models import Leg, Permit, PermitNonces
from sweeps.rails.rail import Offered, Sealed

# Permit2's nonces are unordered: 2^248 words of 256. Ours begin at a word that no other application has a reason to
# use; the top bits stay clear, so that counting up never leaves the range.
FIRST_PERMIT_WORD = int(keccak_hex(b"sweepapi permit2 nonces"), 16) >> 16
# An upper bound until builds are simulated: more than any route of this release has been measured to use.
GAS_FIXED, GAS_PER_LEG = 200_000, 250_000


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
    def signature_index(self) -> int:
        """The position of the signature among the arguments."""
        return len(self.arguments) - 1


@dataclass(frozen=True)
class EvmSealed(Sealed):
    """A sealed draft on an EVM chain."""

    draft: EvmDraft
    legs: Sequence[batch.Leg]
    permit: TypedData
    permission: batch.Permission
    call: ContractCall

    @property
    def gas(self) -> int:
        """The gas limit, with a margin."""
        return GAS_FIXED + GAS_PER_LEG * len(self.legs)

    @property
    def fee_authorization(self) -> Mapping[str, Any] | None:
        """The signed authorization as partners see it; None for contracts that need none."""
        return None


EvmSealedT = TypeVar("EvmSealedT", bound=EvmSealed)


def permit_words(*, network: str, wallet: str) -> tuple[int, ...]:
    """Return the positions of the words in which the wallet's next Permit2 nonce will lie."""
    row = PermitNonces.objects.filter(network=network, wallet=wallet).first()
    word = FIRST_PERMIT_WORD + (row.next_index if row is not None else 0) // BITS_PER_WORD
    return (word, word + 1)


def reserve_permission(draft: EvmDraft) -> batch.Permission:
    """Reserve what the user signs for a new sweep, in the caller's transaction: a nonce and a new deadline."""
    nonce = reserve_permit_nonce(
        network=draft.chain.network, wallet=draft.request.wallet, used_words=draft.used_permit_words
    )
    return batch.Permission(nonce, _new_deadline(draft.head))


def reserve_permit_nonce(*, network: str, wallet: str, used_words: Mapping[int, int]) -> int:
    """Reserve a wallet's next Permit2 nonce; ``used_words`` is Permit2's bitmap by word position, as just read.

    Runs in the caller's transaction. A nonce is never reserved twice; a build that fails after its reservation leaves
    a gap.
    """
    PermitNonces.objects.get_or_create(network=network, wallet=wallet)
    row = PermitNonces.objects.select_for_update().get(network=network, wallet=wallet)
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


def _new_deadline(head: Block) -> int:
    """Return the deadline of what is signed now, in seconds since 1970.

    It counts from the later of both clocks: the chain's decides, and it may be behind or ahead of the server's.
    """
    deadline: int = max(int(time.time()), head.timestamp) + settings.AUTHORIZATION_TTL_SECONDS
    return deadline


def permission_of(sweep: Sweep) -> batch.Permission:
    """Return what the user signed for the first offer of a sweep, which is good for every other one."""
    return batch.Permission(sweep.permit.nonce, int(sweep.deadline.timestamp()))


def deadline_of(permission: batch.Permission) -> datetime:
    """Return the deadline of the permission as a time."""
    return datetime.fromtimestamp(permission.deadline, tz=UTC)


def permit_of(draft: EvmDraft, permission: batch.Permission, witness: Witness) -> TypedData:
    """Return what the user signs to have the draft's tokens pulled by its contract."""
    permit = BatchPermit(
        spender=draft.contract,
        permitted=[(token.asset, token.amount) for token in draft.tokens],
        nonce=permission.nonce,
        deadline=permission.deadline,
        witness=witness,
    )
    return permit.typed_data(chain_id=draft.chain.chain_id, permit2=draft.chain.permit2)


def call_of(draft: EvmDraft, *, contract_name: str, function: Function, arguments: Sequence[Any]) -> ContractCall:
    """Return the call of the contract's ``sweep``."""
    calldata = function.encode(*arguments)
    return ContractCall(
        to=draft.contract,
        function_name="sweep",
        abi=[function_abi(contract_name, "sweep"), *error_abi(contract_name)],
        arguments=arguments,
        calldata=calldata,
        signature_offset=batch.signature_offset(calldata),
    )


def legs_of(draft: EvmDraft) -> list[batch.Leg]:
    """Return the legs as the contract takes them, with the calls of their routers encoded."""
    # Anyone can take prefunded tokens from the router during the call, so a hostile token of the same sweep could; the
    # output's code runs during the call as well.
    assets = (draft.output_token, *(token.asset for token in draft.tokens))
    prefunded = all(_is_vetted(asset, draft.chain) for asset in assets)
    return [_leg(token, draft.contract, prefunded=prefunded) for token in draft.tokens]


def _is_vetted(token: str, chain: Chain) -> bool:
    return token in chain.vetted_tokens or token == chain.wrapped_native


def _leg(token: EvmToken, contract: str, *, prefunded: bool) -> batch.Leg:
    if token.route is None:
        return batch.Leg(token.asset, token.amount, ZERO_ADDRESS, batch.FUNDING_NONE, b"")
    data = finder.swap_call(
        token.route,
        amount_in=0 if prefunded else token.amount,
        min_output=token.min_output,
        recipient=contract,
    )
    funding = batch.FUNDING_PREFUNDED if prefunded else batch.FUNDING_APPROVED
    return batch.Leg(token.asset, token.amount, token.route.router.address, funding, data)


def store(offered: Offered[EvmSealedT]) -> None:
    """Store the legs of an offer, and with the first one the permit's nonce."""
    sealed = offered.sealed
    Permit.objects.get_or_create(sweep=offered.sweep, defaults={"nonce": sealed.permission.nonce})
    rows = {row.position: row for row in offered.sweep.tokens.all()}
    Leg.objects.bulk_create(
        Leg(
            offer=offered.offer,
            token=rows[position],
            expected_output=token.expected_output,
            min_output=token.min_output,
            funding=leg.funding,
            data=leg.data,
            **_route_columns(token),
        )
        for position, (token, leg) in enumerate(zip(sealed.draft.tokens, sealed.legs, strict=True))
    )


def _route_columns(token: EvmToken) -> dict[str, Any]:
    route = token.route
    if route is None:
        return {"path": [token.asset], "fee_tiers": []}
    return {
        "router": route.router.name,
        "kind": route.router.kind,
        "target": route.router.address,
        "path": list(route.path),
        "fee_tiers": list(route.fee_tiers),
    }
