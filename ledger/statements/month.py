"""Calendar months in UTC, by which statements are made."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

_TEXT = re.compile(r"(2[0-9]{3})-(0[1-9]|1[0-2])", re.ASCII)


@dataclass(frozen=True, order=True)
class Month:
    """A month from ``start`` until just before ``end``; its text is ``2026-11``."""

    year: int
    number: int  # 1 is January

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the month of exactly this form, in a year from 2000 to 2999; raises ValueError for any other text."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError("A month is written as YYYY-MM.")
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def of(cls, moment: datetime) -> Self:
        """Return the month of a moment given in any time zone."""
        in_utc = moment.astimezone(UTC)
        return cls(in_utc.year, in_utc.month)

    @property
    def start(self) -> datetime:
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """The start of the next month."""
        return self.shifted(1).start

    def shifted(self, months: int) -> Self:
        """Return the month so many later, or earlier if negative."""
        years, index = divmod(self.number - 1 + months, 12)
        return type(self)(self.year + years, index + 1)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"
