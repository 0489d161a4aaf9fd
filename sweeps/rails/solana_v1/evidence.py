"""What a sweep on Solana shows of an execution: a transaction, which no program of ours confirms by an event."""

from sweeps.models import Execution, Sweep
from sweeps.protocol.evidence import ATTESTED, PAID_AT_ONCE, PAID_LATER, SPLIT, VERIFIABLE, Evidence

# The swap API takes the fee from each swap and rounds it there.
SWAP_FEE = "grossOutput * totalFeeBps / 10000, at most one unit away for each token"


def evidence(_sweep: Sweep, _execution: Execution) -> Evidence:
    """Return it; the transaction shows what its user got, and what the venue, our fee wallet, got as the fee."""
    return Evidence(
        event=None,
        authorizations=(),
        verifiable=(*VERIFIABLE, "outputMint", "fee.totalFeeBps", "fee.protocolRecipient", *PAID_AT_ONCE),
        attested=(*ATTESTED, *PAID_LATER),
        recomputation=SPLIT | {"totalFee": SWAP_FEE},
    )
