"""A month is parsed strictly, and its boundaries are UTC."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ledger.statements.month import Month


def test_a_month_begins_and_ends_in_utc() -> None:
    month = Month.parse("2026-12")
    assert (month.start, month.end) == (datetime(2026, 12, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    assert str(month) == "2026-12"


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2026", "2026-1", "2026-00", "2026-13", "26-01", "2026/01", "2026-01-01", " 2026-01", "2026-01\n"),
        *("0000-01", "1999-12", "+026-01", "\N{FULLWIDTH DIGIT TWO}026-01", "2026-0\N{ARABIC-INDIC DIGIT ONE}"),
    ],
)
def test_anything_but_yyyy_mm_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="YYYY-MM"):
        Month.parse(text)


def test_a_moment_belongs_to_its_month_in_utc() -> None:
    local_new_year = datetime(2027, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    assert Month.of(local_new_year) == Month(2026, 12)


@pytest.mark.parametrize(("months", "shifted"), [(0, "2026-11"), (1, "2026-12"), (2, "2027-01"), (-11, "2025-12")])
def test_months_are_counted_across_years(months: int, shifted: str) -> None:
    assert str(Month(2026, 11).shifted(months)) == shifted


def test_months_are_ordered_by_time() -> None:
    assert Month(2025, 12) < Month(2026, 1) < Month(2026, 2)
