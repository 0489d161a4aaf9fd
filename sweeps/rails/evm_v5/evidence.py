"""What V5 shows of an execution: its event, and the fee authorizations as they were signed."""

from collections.abc import Iterator

from sweeps.models import Execution, Sweep
from sweeps.protocol.evidence import ATTESTED, SPLIT, VERIFIABLE, ContractEvent, Evidence, SignedAuthorization
from sweeps.rails.evm.follow.emitted import token_count
from sweeps.rails.evm_v5.models import FeeAuthorization

SIGNATURE = (
    "SweepExecutedV5(uint256 indexed nonce, address indexed user, bytes32 indexed partnerId, address partnerRecipient, "
    "address protocolRecipient, address outputToken, uint256 tokenCount, uint256 grossOutput, uint256 totalFee, "
    "uint256 partnerFee, uint256 protocolFee, uint256 userAmount)"
)


def evidence(sweep: Sweep, execution: Execution) -> Evidence:
    """Return it; all that the partner, the protocol and the user got is on chain."""
    return Evidence(
        event=ContractEvent(SIGNATURE, _event_fields(sweep, execution)),
        authorizations=list(_authorizations(sweep)),
        verifiable=(
            *VERIFIABLE,
            *("outputMint", "fee", "operations[].event", "operations[].amounts", "amounts", "authorizations"),
        ),
        attested=ATTESTED,
        recomputation=SPLIT,
    )


def _event_fields(sweep: Sweep, execution: Execution) -> dict[str, str]:
    """Return the values of the event, which was accepted because these are its values."""
    return {
        "nonce": execution.execution_id,
        "user": sweep.wallet,
        "partnerId": sweep.partner.onchain_id,
        "partnerRecipient": str(sweep.partner_recipient),
        "protocolRecipient": sweep.protocol_recipient,
        "outputToken": sweep.output_asset,
        "tokenCount": token_count(sweep),
        "grossOutput": str(execution.gross_output),
        "totalFee": str(execution.total_fee),
        "partnerFee": str(execution.partner_fee),
        "protocolFee": str(execution.protocol_fee),
        "userAmount": str(execution.user_amount),
    }


def _authorizations(sweep: Sweep) -> Iterator[SignedAuthorization]:
    """Yield those of all offers, from what was stored when they were signed; an adopted sweep has none."""
    signed = FeeAuthorization.objects.filter(offer__sweep=sweep).select_related("offer").order_by("offer__sequence")
    for row in signed:
        typed_data = row.message.typed_data(chain_id=row.chain_id, contract=row.contract)
        yield SignedAuthorization(row.offer.sequence, typed_data, row.digest, row.signature, row.signer)
