"""Builds a sweep on V5: its terms, its nonce, the user's order and the signed fee authorization."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ledger.models import Settlement
from partners.models import Partner
from sweepapi import networks
from sweepapi.errors import UnsupportedChain
from sweepapi.evm import batch, v5
from sweepapi.evm.chains import Chain
from sweepapi.evm.market import Contract
from sweeps.models import Sweep
from sweeps.rails.evm import drafting, storing
from sweeps.rails.evm.draft import EvmDraft
from sweeps.rails.evm.sealing import (
    EvmSealed,
    call_of,
    deadline_of,
    permission_of,
    permit_of,
    reserve_permission,
    route_of,
    signed_terms_of,
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


def draft_v5(*, partner: Partner, request: BuildRequest, renewed: Sweep | None = None) -> EvmDraft:
    """Plan a sweep under the terms of the ``renewed`` one, or those of today.

    Raises ``UnsupportedChain`` where V5 is not deployed.
    """
    chain = networks.current().chain(request.network)
    if chain.v5_contract is None or chain.protocol_recipient is None:
        raise UnsupportedChain
    fees = FeeTerms.of(renewed) if renewed is not None else _fees_of_today(partner, chain, chain.protocol_recipient)
    return drafting.draft(
        partner=partner,
        request=request,
        chain=chain,
        contract=Contract(chain.v5_contract),
        fees=fees,
        signed=signed_terms_of(renewed) if renewed is not None else None,
    )


def _fees_of_today(partner: Partner, chain: Chain, protocol_recipient: str) -> FeeTerms:
    return FeeTerms(
        total_fee_bps=settings.TOTAL_FEE_BPS,
        partner_share_bps=partner.share_bps_at(timezone.now()),
        partner_recipient=partner.recipient_on(chain.network),
        protocol_recipient=protocol_recipient,
        settlement=Settlement.ON_CHAIN,
    )


def seal(draft: EvmDraft, *, renewed: Sweep | None = None) -> V5Sealed:
    """Reserve the nonces and sign; with ``renewed``, sign another offer under the nonces of that sweep."""
    if renewed is None:
        nonce, permission = _reserve(draft)
        min_gross = draft.minimum.gross_output
    else:
        nonce, permission = int(renewed.executions.get().execution_id), permission_of(renewed)
        min_gross = renewed.min_gross
    signer = networks.current().fee_signer
    route = route_of(draft)
    order = _order(draft, route, nonce=nonce)
    authorization = _authorization(draft, nonce=nonce, deadline=permission.deadline, legs_hash=batch.hash_route(route))
    typed_data = authorization.typed_data(chain_id=draft.chain.chain_id, contract=draft.contract)
    signature = signer.sign(typed_data)
    arguments = v5.sweep_arguments(route=route, authorization=authorization, signature=signature, permission=permission)
    return V5Sealed(
        draft=draft,
        identities=[Identity(draft.contract, str(nonce), range(len(draft.tokens)), min_gross)],
        deadline=deadline_of(permission),
        route=route,
        permit=permit_of(draft, permission, order.witness),
        permission=permission,
        call=call_of(draft, contract_name=v5.CONTRACT_NAME, function=v5.SWEEP, arguments=arguments),
        authorization=authorization,
        authorization_digest=typed_data.digest,
        signature=signature,
        signer=signer.address,
    )


def _reserve(draft: EvmDraft) -> tuple[int, batch.Permission]:
    """Return the authorization's nonce and the user's permission."""
    with transaction.atomic():
        return _next_authorization_nonce(draft.chain.network, draft.contract), reserve_permission(draft)


def _next_authorization_nonce(network: str, contract: str) -> int:
    AuthorizationNonces.objects.get_or_create(network=network, contract=contract)
    row = AuthorizationNonces.objects.select_for_update().get(network=network, contract=contract)
    row.next_nonce += 1
    row.save(update_fields=["next_nonce"])
    return row.next_nonce - 1


def _authorization(draft: EvmDraft, *, nonce: int, deadline: int, legs_hash: str) -> v5.Authorization:
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
        nonce=nonce,
        deadline=deadline,
        legs_hash=legs_hash,
    )


def _order(draft: EvmDraft, route: batch.Route, *, nonce: int) -> v5.SweepOrder:
    return v5.SweepOrder(
        output_token=draft.output.asset,
        floors=route.floors,
        max_skipped=route.max_skipped,
        total_fee_bps=draft.fees.total_fee_bps,
        partner_id=draft.partner.onchain_id,
        authorization_nonce=nonce,
    )


def store(offered: Offered[V5Sealed]) -> None:
    """Store the route and the authorization of an offer, and with the first one what the user signs."""
    sealed, authorization = offered.sealed, offered.sealed.authorization
    storing.store(offered)
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
        token_count=len(sealed.route.legs),
        digest=sealed.authorization_digest,
        signature=f"0x{sealed.signature.hex()}",
        signer=sealed.signer,
    )
