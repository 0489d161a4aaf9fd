"""Legs are packed into as few transactions as their size allows, in an order that keeps them working."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from random import Random

import pytest
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.message import MessageV0
from solders.null_signer import NullSigner
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction
from spl.token.instructions import close_account, create_idempotent_associated_token_account
from spl.token.models import CloseAccountParams

from sweepapi.solana.encoding.addresses import COMPUTE_BUDGET, TOKEN, WRAPPED_SOL, associated_account
from sweepapi.solana.encoding.errors import LegsTooLargeError
from sweepapi.solana.packing.guard import Output
from sweepapi.solana.packing.packing import MAX_ACCOUNTS, MAX_BYTES, MAX_TRANSACTIONS, Disposal, Packed, SwapLeg, pack

WALLET, PROGRAM, FEE_ACCOUNT = Pubkey.new_unique(), Pubkey.new_unique(), Pubkey.new_unique()
WRAPPED = associated_account(WALLET, WRAPPED_SOL, TOKEN)
OUTPUT = Output(wallet=WALLET, mint=Pubkey.new_unique(), program=TOKEN, decimals=6, fee_account=FEE_ACCOUNT, held=70)
MINIMUM = 5
CREATE = create_idempotent_associated_token_account(WALLET, WALLET, WRAPPED_SOL)


def keys(count: int) -> list[Pubkey]:
    return [Pubkey.new_unique() for _ in range(count)]


def swap(accounts: Sequence[Pubkey], data: bytes = b"swap") -> Instruction:
    metas = [AccountMeta(key, is_signer=False, is_writable=True) for key in accounts]
    return Instruction(PROGRAM, data, [AccountMeta(WALLET, is_signer=True, is_writable=True), *metas])


def leg(
    *instructions: Instruction,
    cleanup: Instruction | None = None,
    closing: Sequence[Instruction] = (),
    tables: Sequence[AddressLookupTableAccount] = (),
) -> SwapLeg:
    return SwapLeg(instructions, MINIMUM, cleanup, closing, tuple(tables))


def without_guard(packed: Packed) -> list[Instruction]:
    """Return the instructions that the legs brought, of a transaction that guards their minimums."""
    guard = OUTPUT.guard(MINIMUM * len(packed.legs), packed.reference)
    assert packed.instructions.count(guard) == 1
    return [each for each in packed.instructions if each != guard]


def close(account: Pubkey) -> Instruction:
    return close_account(CloseAccountParams(program_id=TOKEN, account=account, dest=WALLET, owner=WALLET))


def compiled(packed: Packed) -> MessageV0:
    return packed.message(Hash.new_unique(), unit_limit=1_400_000, unit_price=2**64 - 1)


def sent_bytes(packed: Packed) -> int:
    return len(bytes(VersionedTransaction(compiled(packed), [NullSigner(WALLET)])))


def accounts_of(message: MessageV0) -> int:
    looked_up = [(*each.writable_indexes, *each.readonly_indexes) for each in message.address_table_lookups]
    return len(message.account_keys) + sum(map(len, looked_up))


def test_a_transaction_starts_with_its_budget_and_guards_its_minimum_between_the_swaps_and_the_closings() -> None:
    sold, other, empty = keys(3)
    legs = [leg(CREATE, swap([sold, WRAPPED]), closing=[close(sold)]), leg(swap([other]), closing=[close(other)])]

    [packed] = pack(OUTPUT, legs, disposals=[Disposal([close(empty)])])

    guard = OUTPUT.guard(2 * MINIMUM, packed.reference)
    swaps = [CREATE, swap([sold, WRAPPED]), swap([other])]
    assert list(packed.instructions) == [*swaps, guard, close(sold), close(other), close(empty)]
    message = compiled(packed)
    programs = [message.account_keys[each.program_id_index] for each in message.instructions]
    assert programs[:3] == [COMPUTE_BUDGET, COMPUTE_BUDGET, CREATE.program_id]


@pytest.mark.parametrize("named", [[True, True], [True, False], [False, False]])
@pytest.mark.parametrize("ends_in_sol", [True, False])
def test_sol_is_unwrapped_once_after_the_guard(*, named: list[bool], ends_in_sol: bool) -> None:
    output = replace(OUTPUT, mint=WRAPPED_SOL) if ends_in_sol else OUTPUT
    legs = [
        leg(CREATE, swap([WRAPPED], data), cleanup=close(WRAPPED) if is_named else None)
        for data, is_named in zip((b"1", b"2"), named, strict=True)
    ]

    [packed] = pack(output, legs, disposals=[])

    guard = output.guard(2 * MINIMUM, packed.reference)
    swaps = [swap([WRAPPED], data) for data in (b"1", b"2")]
    unwraps = [close(WRAPPED)] if ends_in_sol or any(named) else []
    assert list(packed.instructions) == [CREATE, *swaps, guard, *unwraps]


def test_an_account_that_another_transaction_uses_is_not_closed() -> None:
    shared, closed = keys(2)
    legs = [
        leg(swap([shared, *keys(19)]), closing=[close(shared)]),
        leg(swap([closed, *keys(19)]), closing=[close(closed)]),
        leg(swap([shared, *keys(19)])),
    ]

    packed = pack(OUTPUT, legs, disposals=[])

    assert len(packed) == 3
    instructions = [each for one in packed for each in one.instructions]
    assert close(closed) in instructions
    assert close(shared) not in instructions


def test_an_account_that_only_its_own_transaction_uses_is_closed() -> None:
    [account] = keys(1)
    legs = [leg(swap([account]), closing=[close(account)]), leg(swap([account], b"through it"))]

    [packed] = pack(OUTPUT, legs, disposals=[])

    assert packed.instructions[-1] == close(account)


def test_wrapped_sol_that_the_wallet_held_counts_only_in_a_single_transaction() -> None:
    output = Output(wallet=WALLET, mint=WRAPPED_SOL, program=TOKEN, decimals=9, fee_account=FEE_ACCOUNT, held=70)
    for count, held in ((1, 70), (4, 0)):
        packed = pack(output, [leg(swap(keys(20))) for _ in range(count)], disposals=[])

        assert (len(packed) > 1) == (count > 1)
        for one in packed:
            assert replace(output, held=held).guard(MINIMUM * len(one.legs), one.reference) in one.instructions


def test_the_wallet_is_the_only_signer_and_pays() -> None:
    [packed] = pack(OUTPUT, [leg(swap(keys(3)))], disposals=[])

    message = compiled(packed)

    assert message.header.num_required_signatures == 1
    assert message.account_keys[0] == WALLET


def test_each_transaction_has_its_own_reference() -> None:
    packed = [one for _ in range(2) for one in pack(OUTPUT, [leg(swap(keys(20))) for _ in range(4)], disposals=[])]

    assert len(packed) > 2
    assert len({one.reference for one in packed}) == len(packed)


def test_no_legs_need_no_transaction() -> None:
    assert pack(OUTPUT, [], disposals=[]) == []


def test_a_transaction_is_filled_to_the_last_byte() -> None:
    accounts = keys(20)
    [packed] = pack(OUTPUT, [leg(swap(accounts))], disposals=[])
    room = MAX_BYTES - sent_bytes(packed)

    [filled] = pack(OUTPUT, [leg(swap(accounts, bytes(4 + room - 1)))], disposals=[])  # its length takes one more

    assert sent_bytes(filled) == MAX_BYTES
    with pytest.raises(LegsTooLargeError):
        pack(OUTPUT, [leg(swap(accounts, bytes(4 + room)))], disposals=[])


def test_all_legs_that_do_not_fit_are_named() -> None:
    legs = [leg(swap(keys(3))), leg(swap(keys(40))), leg(swap(keys(40)))]

    with pytest.raises(LegsTooLargeError) as caught:
        pack(OUTPUT, legs, disposals=[])

    assert caught.value.positions == [1, 2]


def test_lookup_tables_make_room_until_a_transaction_has_too_many_accounts() -> None:
    accounts = keys(100)
    table = AddressLookupTableAccount(Pubkey.new_unique(), accounts)
    # Wallet, swap program, reference, fee account, mint and account of the output; the programs of budget and guard.
    others = 8

    [packed] = pack(OUTPUT, [leg(swap(accounts[: MAX_ACCOUNTS - others]), tables=[table])], disposals=[])

    assert accounts_of(compiled(packed)) == MAX_ACCOUNTS
    assert sent_bytes(packed) < MAX_BYTES
    with pytest.raises(LegsTooLargeError):
        pack(OUTPUT, [leg(swap(accounts[: MAX_ACCOUNTS - others + 1]), tables=[table])], disposals=[])


def test_more_accounts_than_a_message_can_index_do_not_fit() -> None:
    with pytest.raises(LegsTooLargeError):
        pack(OUTPUT, [leg(swap(keys(300)))], disposals=[])


def test_a_table_that_saves_nothing_is_left_out() -> None:
    accounts = keys(3)
    table = AddressLookupTableAccount(Pubkey.new_unique(), accounts[:1])

    [packed] = pack(OUTPUT, [leg(swap(accounts), tables=[table])], disposals=[])

    assert packed.lookup_tables == ()


def test_legs_keep_their_order_within_a_transaction() -> None:
    legs = [leg(swap(keys(size), bytes([size]))) for size in (1, 9, 2, 14, 3, 1)]

    packed = pack(OUTPUT, legs, disposals=[])

    for one in packed:
        assert list(one.legs) == sorted(one.legs)
        assert [each.data for each in without_guard(one)] == [legs[index].instructions[0].data for index in one.legs]
    assert sorted(index for one in packed for index in one.legs) == list(range(6))
    assert [one.legs[0] for one in packed] == sorted(one.legs[0] for one in packed)


def test_an_account_that_two_legs_create_is_created_once() -> None:
    [packed] = pack(OUTPUT, [leg(CREATE, swap([WRAPPED], b"1")), leg(CREATE, swap([WRAPPED], b"2"))], disposals=[])

    assert without_guard(packed) == [CREATE, swap([WRAPPED], b"1"), swap([WRAPPED], b"2")]


def test_an_account_that_was_closed_is_created_again() -> None:
    instructions = [CREATE, swap([WRAPPED]), close(WRAPPED)]

    [packed] = pack(OUTPUT, [leg(*instructions), leg(*instructions)], disposals=[])

    assert without_guard(packed) == [*instructions, *instructions]


def test_an_account_that_exists_is_not_created_unless_the_sweep_closes_it() -> None:
    used, other = leg(CREATE, swap([WRAPPED], b"1")), leg(swap(keys(1)), closing=[close(WRAPPED)])

    [kept] = pack(OUTPUT, [used], disposals=[], existing=[WRAPPED])
    [closed] = pack(OUTPUT, [used, other], disposals=[], existing=[WRAPPED])
    [absent] = pack(OUTPUT, [used], disposals=[], existing=keys(1))

    assert CREATE not in kept.instructions
    assert CREATE in closed.instructions
    assert CREATE in absent.instructions


def test_wrapped_sol_that_exists_is_created_again_because_each_transaction_unwraps_it() -> None:
    ends_in_sol = Output(wallet=WALLET, mint=WRAPPED_SOL, program=TOKEN, decimals=9, fee_account=FEE_ACCOUNT, held=0)

    [packed] = pack(ends_in_sol, [leg(CREATE, swap([WRAPPED]))], disposals=[], existing=[WRAPPED])

    assert CREATE in packed.instructions


def test_only_equal_idempotent_creations_are_left_out() -> None:
    strict = Instruction(CREATE.program_id, b"\x00", CREATE.accounts)
    other = create_idempotent_associated_token_account(Pubkey.new_unique(), WALLET, WRAPPED_SOL)

    [packed] = pack(OUTPUT, [leg(CREATE, strict), leg(strict, other, swap([WRAPPED]))], disposals=[])

    assert without_guard(packed) == [CREATE, strict, strict, other, swap([WRAPPED])]


def test_closings_fill_the_room_that_swaps_leave_and_then_transactions_of_their_own() -> None:
    legs = [leg(swap(keys(20))), leg(swap(keys(25)))]
    closings = [close(key) for key in keys(40)]

    packed = pack(OUTPUT, legs, disposals=[Disposal([closing]) for closing in closings])

    closed = [each for one in packed for each in one.instructions if each in closings]
    assert closed == closings
    assert [one.legs for one in packed[:2]] == [(0,), (1,)]
    assert all(sent_bytes(one) <= MAX_BYTES for one in packed)
    # All but the last have no room for another: its key takes 32 bytes, the instruction 7.
    assert all(sent_bytes(one) + 32 + 7 > MAX_BYTES for one in packed[:-1])
    for one in packed[2:]:
        assert (one.legs, one.instructions[0]) == ((), OUTPUT.marker(one.reference))
        named = {account.pubkey: account for account in one.instructions[0].accounts}
        assert [named[key].is_writable for key in (one.reference, FEE_ACCOUNT)] == [False, False]


def test_what_is_of_a_kind_is_never_in_a_transaction_that_sells() -> None:
    burnt, empty = close(keys(1)[0]), close(keys(1)[0])

    sale, other = pack(OUTPUT, [leg(swap(keys(3)))], disposals=[Disposal([empty]), Disposal([burnt], "burn")])

    assert (empty in sale.instructions, burnt in sale.instructions) == (True, False)
    assert (other.legs, burnt in other.instructions) == ((), True)


def test_a_sweep_has_twenty_transactions_at_most_and_its_last_closings_wait() -> None:
    closings = [close(key) for key in keys(800)]

    packed = pack(OUTPUT, [leg(swap(keys(20)))], disposals=[Disposal([closing]) for closing in closings])

    closed = [each for one in packed for each in one.instructions if each in closings]
    assert len(packed) == MAX_TRANSACTIONS
    assert closed == closings[: len(closed)]
    assert 400 < len(closed) < 800


def random_legs(random: Random) -> list[SwapLeg]:
    """Return legs that share accounts and lookup tables, as routes through the same pools do."""
    pools = keys(60)
    received = [OUTPUT.mint, associated_account(WALLET, OUTPUT.mint, TOKEN), TOKEN]
    tables = [AddressLookupTableAccount(Pubkey.new_unique(), random.sample(pools, 20) + keys(5)) for _ in range(4)]
    return [
        leg(
            swap(
                [*received, *random.sample(pools, random.randint(5, 17)), *keys(random.randint(1, 6))],
                bytes(random.randint(20, 60)),
            ),
            tables=random.sample(tables, random.randint(0, 3)),
        )
        for _ in range(random.randint(3, 7))
    ]


def fits_with(swaps: Sequence[Instruction], tables: Sequence[AddressLookupTableAccount]) -> bool:
    guard = OUTPUT.guard(MINIMUM, Pubkey.default())
    packed = Packed(WALLET, (), Pubkey.default(), (*swaps, guard), tuple(tables))
    message = compiled(packed)
    return sent_bytes(packed) <= MAX_BYTES and accounts_of(message) <= MAX_ACCOUNTS


def fewest(legs: Sequence[SwapLeg]) -> int:
    """Return the number of transactions of the best of all partitions."""

    @cache
    def fits(members: frozenset[int]) -> bool:
        chosen = [legs[index] for index in sorted(members)]
        tables = {table.key: table for each in chosen for table in each.lookup_tables}.values()
        swaps = [each.instructions[0] for each in chosen]
        choices = (choice for count in range(len(tables) + 1) for choice in combinations(tables, count))
        return any(fits_with(swaps, choice) for choice in choices)

    def partitions(left: tuple[int, ...], groups: tuple[frozenset[int], ...]) -> int:
        if not left:
            return len(groups)
        first, *rest = left
        options = [(*groups, frozenset([first]))]
        options += [
            (*groups[:place], group | {first}, *groups[place + 1 :])
            for place, group in enumerate(groups)
            if fits(group | {first})
        ]
        return min(partitions(tuple(rest), option) for option in options)

    return partitions(tuple(range(len(legs))), ())


@pytest.mark.parametrize("seed", range(40))
def test_no_partition_of_the_legs_needs_fewer_transactions(seed: int) -> None:
    legs = random_legs(Random(seed))  # noqa: S311 - examples, the same in each run

    packed = pack(OUTPUT, legs, disposals=[])

    assert len(packed) == fewest(legs)
    assert all(sent_bytes(one) <= MAX_BYTES for one in packed)


def test_legs_that_are_to_be_apart_share_a_transaction_with_no_other() -> None:
    legs = [leg(swap(keys(3))) for _ in range(4)]

    packed = pack(OUTPUT, legs, disposals=[], apart=[1, 3])

    assert [one.legs for one in packed] == [(0, 2), (1,), (3,)]
