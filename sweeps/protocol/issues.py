"""What a user still has to fix before a sweep can be sent, as far as it is the same on every rail."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GasIssue:
    """That the user holds too little of the native coin, in its smallest unit."""

    actual: int
    needed: int  # the most that is asked for before one of the transactions
