"""An issued sweep on V5, and how its offers are stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.contracts import v5
from sweeps.protocol.rail import Offered
from sweeps.rails.evm.build import storing
from sweeps.rails.evm.build.issuing import EvmIssued
from sweeps.rails.evm_v5.models import FeeAuthorization


@dataclass(frozen=True)
class V5Issued(EvmIssued):
    """An issued sweep that the service signed a fee authorization for."""

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


def store(offered: Offered[V5Issued]) -> None:
    """Store the route and the authorization of an offer, and with the first one what the user signs."""
    issued, authorization = offered.issued, offered.issued.authorization
    storing.store(offered)
    FeeAuthorization.objects.create(
        offer=offered.offer,
        chain_id=issued.planned.market.chain.chain_id,
        contract=issued.planned.contract,
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
        token_count=len(issued.route.legs),
        digest=issued.authorization_digest,
        signature=f"0x{issued.signature.hex()}",
        signer=issued.signer,
    )
