"""What the comparison finds wrong, by kind."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    LOST = "lost"  # the chain or an answer has it, and the service does not
    DOUBLED = "doubled"  # the service has it more often than the chain
    STUCK = "stuck"  # nothing on chain can change it any more, and the service still waits
    BOOKS = "books"  # statuses, amounts, entries or balances that the chain contradicts
    ANSWERS = "answers"  # what partners were answered


@dataclass(frozen=True)
class Finding:
    """One contradiction, as a sentence with its evidence."""

    kind: Kind
    sweep: str  # its id; blank where the finding is about several
    story: int | None
    sentence: str
