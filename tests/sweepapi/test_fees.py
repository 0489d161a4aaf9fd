"""The split loses nothing and never takes more than the published formulas."""

import hashlib
import random
import struct
from pathlib import Path

from sweepapi.fees import NOTHING, FeeRates, Split
from sweepapi.fields import UINT256_MAX

ROOT = Path(__file__).parents[2]
RANDOM = random.Random(75)  # noqa: S311 the same cases every time
GROSSES = [0, 1, 133, 134, 9_999, 10_000, 10**18, UINT256_MAX - 1, UINT256_MAX]
CASES = [(gross, fee, share) for gross in GROSSES for fee in (0, 1, 75, 300) for share in (0, 1, 4000, 9_999, 10_000)]
CASES += [(RANDOM.getrandbits(256), RANDOM.randint(0, 300), RANDOM.randint(0, 10_000)) for _ in range(300)]


def test_the_parts_add_up_to_the_unit_and_are_the_floors_of_the_formulas() -> None:
    for gross, fee_bps, share_bps in CASES:
        parts = FeeRates(fee_bps, share_bps).split(gross)
        assert parts.user_amount + parts.partner_fee + parts.protocol_fee == gross
        assert parts.partner_fee + parts.protocol_fee == parts.total_fee
        assert 0 <= gross * fee_bps - parts.total_fee * 10_000 < 10_000
        assert 0 <= parts.total_fee * share_bps - parts.partner_fee * 10_000 < 10_000
        assert min(parts.user_amount, parts.partner_fee, parts.protocol_fee) >= 0


def test_a_worked_example() -> None:
    assert FeeRates(75, 4000).split(1_000_001) == Split(
        gross_output=1_000_001, total_fee=7_500, partner_fee=3_000, protocol_fee=4_500, user_amount=992_501
    )


def test_a_fee_matches_to_a_unit_for_each_swap() -> None:
    fees = FeeRates(75, 4000)
    for swaps in (1, 3):
        assert [fee for fee in range(7_490, 7_511) if fees.matches(1_000_000, fee, swaps=swaps)] == [
            *range(7_500 - swaps, 7_501 + swaps)
        ]


def test_a_fee_that_was_taken_is_divided_by_the_share_and_not_calculated_again() -> None:
    assert FeeRates(75, 4000).split_paid(1_000_000, 7_499) == Split(1_000_000, 7_499, 2_999, 4_500, 992_501)


def test_splits_add_up_part_by_part() -> None:
    first, second = FeeRates(75, 4000).split(1_000_001), FeeRates(75, 4000).split(133)
    assert first + second == Split(1_000_134, 7_500, 3_000, 4_500, 992_634)
    assert first + NOTHING == first


def test_the_largest_output_is_split_exactly() -> None:
    parts = FeeRates(75, 10_000).split(UINT256_MAX)
    assert parts.total_fee == parts.partner_fee == (2**256 - 1) * 75 // 10_000
    assert parts.protocol_fee == 0


def test_ten_thousand_outputs_are_split_as_by_an_independent_implementation() -> None:
    """contracts/bin/make-fee-splits.mjs makes and describes the file; the contract is tested with it as well."""
    golden = (ROOT / "tests" / "vectors" / "fee_splits.sha256").read_text(encoding="ascii").strip()
    file = (ROOT / "var" / "vectors" / "fee_splits.bin").read_bytes()
    assert hashlib.sha256(file).hexdigest() == golden
    records = list(struct.iter_unpack("32s" * 7, file))
    assert len(records) == 10_000
    for record in records:
        gross, fee_bps, share_bps, total_fee, partner_fee, protocol_fee, user_amount = map(int.from_bytes, record)
        assert FeeRates(fee_bps, share_bps).split(gross) == Split(
            gross, total_fee, partner_fee, protocol_fee, user_amount
        )
