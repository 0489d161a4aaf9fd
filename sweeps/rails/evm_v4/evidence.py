"""What V4 shows of an execution: its event, which knows no partner, so its part of the fee is only in our books."""

from sweeps.models import Execution, Sweep
from sweeps.protocol.evidence import ATTESTED, PAID_AT_ONCE, PAID_LATER, SPLIT, VERIFIABLE, ContractEvent, Evidence
from sweeps.rails.evm.follow.emitted import token_count

SIGNATURE = (
    "SweepExecutedV4(bytes32 indexed sweepRef, address indexed user, address outputToken, uint256 tokenCount, "
    "uint256 grossOutput, uint256 fee, uint256 userAmount)"
)


def evidence(sweep: Sweep, execution: Execution) -> Evidence:
    """Return it; the whole fee goes to the protocol's recipient."""
    fields = {
        "sweepRef": execution.execution_id,
        "user": sweep.wallet,
        "outputToken": sweep.output_asset,
        "tokenCount": token_count(sweep),
        "grossOutput": str(execution.gross_output),
        "fee": str(execution.total_fee),
        "userAmount": str(execution.user_amount),
    }
    return Evidence(
        event=ContractEvent(SIGNATURE, fields),
        authorizations=(),
        verifiable=(*VERIFIABLE, "outputMint", "fee.totalFeeBps", "operations[].event", *PAID_AT_ONCE),
        attested=(*ATTESTED, "fee.protocolRecipient", *PAID_LATER),
        recomputation=SPLIT,
    )
