"""Builds a sweep on V5: its terms, its nonce, the user's order and the signed fee authorization."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ledger.models import Settlement
from partners.models import Partner
from sweepapi import networks
from sweepapi.errors import UnsupportedChain
from sweepapi.evm import v5
from sweepapi.evm.abi import error_abi
from sweeps.models import Sweep
from sweeps.rails.evm import drafting
from sweeps.rails.evm.draft import EvmDraft
from sweeps.rails.evm.models import Permit
from sweeps.rails.evm.sealing import (
    ContractCall,
    EvmSealed,
    legs_of,
    new_deadline,
    permit_of,
    reserve_permit_nonce,
    store_legs,
)
from sweeps.rails.evm_v5.models import AuthorizationNonces, FeeAuthorization
from sweeps.rails.rail import BuildRequest, FeeTerms, Identity, Offered


@dataclass(frozen=True)
class V5Sealed(EvmSealed):
    """A draft that the service signed a fee authorization for."""

    authorization: v5.Authorization
    authorization_digest: str
    signature: bytes
    signer: str

    @property
    def fee_authorization(self) -> Mapping[str, Any]:
        """The message under its EIP-712 names, with the signature."""
        return {
            **self.authorization.message(),
            "signature": f"0x{self.signature.hex()}",
            "signer": self.signer,
            "digest": self.authorization_digest,
        }


@dataclass(frozen=True)
class _Fixed:
    """What all offers of a sweep share."""

    authorization_nonce: int
    permit_nonce: int
    deadline_seconds: int
    min_gross: int


def draft_v5(*, partner: Partner, request: BuildRequest) -> EvmDraft:
    """Plan a sweep under the current fee terms; raises ``UnsupportedChain`` where V5 is not deployed."""
    chain = networks.current().chain(request.network)
    if chain.v5_contract is None or chain.protocol_recipient is None:
        raise UnsupportedChain
    fees = FeeTerms(
        total_fee_bps=settings.TOTAL_FEE_BPS,
        partner_share_bps=partner.share_bps_at(timezone.now()),
        partner_recipient=partner.recipient_on(chain.network),
        protocol_recipient=chain.protocol_recipient,
        settlement=Settlement.ON_CHAIN,
    )
    return drafting.draft(partner=partner, request=request, chain=chain, contract=chain.v5_contract, fees=fees)


def seal(draft: EvmDraft, *, renewed: Sweep | None = None) -> V5Sealed:
    """Reserve the nonces and sign; with ``renewed``, sign another offer under the nonces and terms of that sweep."""
    if renewed is None:
        fixed = _reserve(draft)
    else:
        draft, fixed = replace(draft, fees=FeeTerms.of(renewed)), _fixed_by(renewed)
    signer = networks.current().fee_signer
    legs, order = legs_of(draft), _order(draft, fixed)
    authorization = _authorization(draft, fixed, v5.hash_legs(legs))
    typed_data = authorization.typed_data(chain_id=draft.chain.chain_id, contract=draft.contract)
    signature = signer.sign(typed_data)
    return V5Sealed(
        draft=draft,
        identities=[
            Identity(draft.contract, str(fixed.authorization_nonce), range(len(draft.tokens)), fixed.min_gross)
        ],
        deadline=datetime.fromtimestamp(fixed.deadline_seconds, tz=UTC),
        # An unsubmitted sweep is worth a look as soon as its deadline has passed.
        first_look_at=datetime.fromtimestamp(fixed.deadline_seconds, tz=UTC) + timedelta(seconds=1),
        legs=legs,
        permit=permit_of(draft, nonce=fixed.permit_nonce, deadline=fixed.deadline_seconds, witness=order.witness),
        permit_nonce=fixed.permit_nonce,
        call=_call(
            draft.contract,
            v5.sweep_arguments(
                legs=legs,
                order=order,
                authorization=authorization,
                signature=signature,
                permission=v5.Permission(nonce=fixed.permit_nonce, deadline=fixed.deadline_seconds),
            ),
        ),
        authorization=authorization,
        authorization_digest=typed_data.digest,
        signature=signature,
        signer=signer.address,
    )


def _reserve(draft: EvmDraft) -> _Fixed:
    network = draft.chain.network
    with transaction.atomic():
        return _Fixed(
            authorization_nonce=_next_authorization_nonce(network, draft.contract),
            permit_nonce=reserve_permit_nonce(
                network=network, wallet=draft.request.wallet, used_words=draft.used_permit_words
            ),
            deadline_seconds=new_deadline(draft.head),
            min_gross=draft.minimum.gross_output,
        )


def _next_authorization_nonce(network: str, contract: str) -> int:
    AuthorizationNonces.objects.get_or_create(network=network, contract=contract)
    row = AuthorizationNonces.objects.select_for_update().get(network=network, contract=contract)
    row.next_nonce += 1
    row.save(update_fields=["next_nonce"])
    return row.next_nonce - 1


def _fixed_by(sweep: Sweep) -> _Fixed:
    return _Fixed(
        authorization_nonce=int(sweep.executions.get().execution_id),
        permit_nonce=sweep.permit.nonce,
        deadline_seconds=int(sweep.deadline.timestamp()),
        min_gross=sweep.min_gross,
    )


def _authorization(draft: EvmDraft, fixed: _Fixed, legs_hash: str) -> v5.Authorization:
    fees = draft.fees
    if fees.partner_recipient is None:
        raise ValueError("V5 pays the partner on chain, so it needs a recipient.")
    return v5.Authorization(
        user=draft.request.wallet,
        partner_id=draft.partner.onchain_id,
        partner_recipient=fees.partner_recipient,
        protocol_recipient=fees.protocol_recipient,
        output_token=draft.output.asset,
        total_fee_bps=fees.total_fee_bps,
        partner_share_bps=fees.partner_share_bps,
        nonce=fixed.authorization_nonce,
        deadline=fixed.deadline_seconds,
        legs_hash=legs_hash,
    )


def _order(draft: EvmDraft, fixed: _Fixed) -> v5.SweepOrder:
    return v5.SweepOrder(
        output_token=draft.output.asset,
        min_user_output=draft.fees.split(fixed.min_gross).user_amount,
        total_fee_bps=draft.fees.total_fee_bps,
        partner_id=draft.partner.onchain_id,
        authorization_nonce=fixed.authorization_nonce,
    )


def _call(contract: str, arguments: tuple[Any, ...]) -> ContractCall:
    calldata = v5.SWEEP.encode(*arguments)
    return ContractCall(
        to=contract,
        function_name="sweep",
        abi=[v5.sweep_abi(), *error_abi(v5.CONTRACT_NAME)],
        arguments=arguments,
        calldata=calldata,
        signature_offset=v5.signature_offset(calldata),
    )


def store(offered: Offered[V5Sealed]) -> None:
    """Store the legs and the authorization of an offer, and with the first one the permit's nonce."""
    sealed, authorization = offered.sealed, offered.sealed.authorization
    store_legs(offered)
    Permit.objects.get_or_create(sweep=offered.sweep, defaults={"nonce": sealed.permit_nonce})
    FeeAuthorization.objects.create(
        offer=offered.offer,
        chain_id=sealed.draft.chain.chain_id,
        contract=sealed.draft.contract,
        nonce=authorization.nonce,
        user=authorization.user,
        partner_onchain_id=authorization.partner_id,
        partner_recipient=authorization.partner_recipient,
        protocol_recipient=authorization.protocol_recipient,
        output_token=authorization.output_token,
        total_fee_bps=authorization.total_fee_bps,
        partner_share_bps=authorization.partner_share_bps,
        deadline_seconds=authorization.deadline,
        legs_hash=authorization.legs_hash,
        token_count=len(sealed.legs),
        digest=sealed.authorization_digest,
        signature=f"0x{sealed.signature.hex()}",
        signer=sealed.signer,
    )
