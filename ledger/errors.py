"""Why a payout, or its reversal, is refused."""

from enum import StrEnum

from sweepapi.payments import PaymentProblem


class PayoutProblem(StrEnum):
    """The reasons that the books or the request give, as stable codes; the chain gives those of a payment."""

    BAD_AMOUNT = "bad_amount"
    BAD_ASSET = "bad_asset"
    BAD_HASH = "bad_hash"
    NO_WALLET = "no_wallet"
    NEVER_EARNED = "never_earned"
    ABOVE_AVAILABLE = "above_available"
    ALREADY_BOOKED = "already_booked"
    CHAIN_UNAVAILABLE = "chain_unavailable"
    NO_REASON = "no_reason"
    NOT_REVERSIBLE = "not_reversible"


class PayoutRefusedError(Exception):
    """A payout can't be recorded or reversed; the message says why in a sentence for operators."""

    def __init__(self, problem: PayoutProblem | PaymentProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem
