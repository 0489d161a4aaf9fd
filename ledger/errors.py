"""Why a payout, or its reversal, is refused."""

from enum import StrEnum


class PayoutProblem(StrEnum):
    """The reasons, as stable codes."""

    ABOVE_AVAILABLE = "above_available"
    ALREADY_BOOKED = "already_booked"
    NEVER_EARNED = "never_earned"
    NOT_REVERSIBLE = "not_reversible"


class PayoutRefusedError(Exception):
    """A payout can't be recorded or reversed; the message says why in a sentence for operators."""

    def __init__(self, problem: PayoutProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem
