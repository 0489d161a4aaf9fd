"""Packs the legs of a sweep into as few transactions as their size allows, with the closings of emptied accounts.

What a leg adds to a transaction depends on the accounts it shares with the legs already there, so only compiling shows
it. Transactions are filled one after the other, started with several legs; the fewest transactions win.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.hash import Hash
from solders.instruction import Instruction
from solders.message import CompileError, MessageV0, to_bytes_versioned
from solders.pubkey import Pubkey

from sweepapi.solana.encoding.addresses import ASSOCIATED_TOKEN, TOKEN_PROGRAMS
from sweepapi.solana.encoding.errors import LegsTooLargeError
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.guard import Output
from sweepapi.solana.packing.references import new_reference

MAX_BYTES = 1232  # of a transaction, its signature included
MAX_ACCOUNTS = 64  # that a transaction can lock
MAX_TRANSACTIONS = 20  # of a sweep, unless its swaps alone take more
_STARTS = 8  # of filling, from which the best is taken
_TOO_MANY_BYTES = 2**16
_SIGNATURE_BYTES = 1 + 64  # with their count
_CREATE_IDEMPOTENT = b"\x01"
_CLOSE_ACCOUNT = b"\x09"


@dataclass(frozen=True)
class SwapLeg:
    """The instructions that sell one token, in order."""

    instructions: tuple[Instruction, ...]
    minimum: int  # that the wallet receives of the output
    cleanup: Instruction | None  # of the swap API, which unwraps SOL
    closing: Sequence[Instruction]  # what closes the account that is emptied
    lookup_tables: tuple[AddressLookupTableAccount, ...]


@dataclass(frozen=True)
class Disposal:
    """The instructions by which a token account is emptied without a sale, closed, or both."""

    instructions: Sequence[Instruction]
    # Those of one kind share transactions that sell nothing: what fails takes no other kind with it. Blank: any.
    kind: str = ""


@dataclass(frozen=True)
class Packed:
    """One transaction without its blockhash and its compute budget."""

    wallet: Pubkey
    legs: tuple[int, ...]  # positions, ascending
    reference: Pubkey
    instructions: tuple[Instruction, ...]
    lookup_tables: tuple[AddressLookupTableAccount, ...]

    def message(self, blockhash: Hash, *, unit_limit: int, unit_price: int) -> MessageV0:
        """Compile the transaction to sign."""
        budget = compute_budget.instructions(unit_limit=unit_limit, unit_price=unit_price)
        return MessageV0.try_compile(self.wallet, [*budget, *self.instructions], list(self.lookup_tables), blockhash)

    @cached_property
    def size(self) -> int:
        """The transaction's size, or more than any limit if it has too many accounts."""
        try:
            message = self.message(Hash.default(), unit_limit=0, unit_price=0)
        except CompileError:
            return _TOO_MANY_BYTES
        looked_up = sum(
            len(used.writable_indexes) + len(used.readonly_indexes) for used in message.address_table_lookups
        )
        is_lockable = len(message.account_keys) + looked_up <= MAX_ACCOUNTS
        return _SIGNATURE_BYTES + len(to_bytes_versioned(message)) if is_lockable else _TOO_MANY_BYTES

    @property
    def fits(self) -> bool:
        return self.size <= MAX_BYTES

    def followed_by(self, instructions: Sequence[Instruction]) -> "Packed":
        """Return the transaction with more instructions at its end."""
        return replace(self, instructions=(*self.instructions, *instructions))


def pack(
    output: Output,
    legs: Sequence[SwapLeg],
    *,
    disposals: Sequence[Disposal],
    apart: Collection[int] = (),
    existing: Collection[Pubkey] = (),
) -> list[Packed]:
    """Return the transactions that run all legs, in the order of their first ones.

    Each leg at one of the positions ``apart`` is alone in its transaction. Those ``disposals`` that no swap's
    transaction has room for, or that are of a kind, have their own; those that find no room are left out if that would
    be more than ``MAX_TRANSACTIONS``. Accounts that are ``existing`` are not created, unless the sweep closes them.
    Raises ``LegsTooLargeError``, and ``UnsafeSwapError`` for minimums that no account can hold.
    """
    legs = _without_needless_creations(output, legs, existing)
    packed = _fewest(_Composer(output, legs), len(legs), apart)
    if output.is_unwrapped and output.held and len(packed) > 1:
        # The first one to land unwraps what the account held, whichever that is.
        packed = _fewest(_Composer(replace(output, held=0), legs), len(legs), apart)
    packed = [_without_closings_of_used_accounts(one, packed, legs) for one in packed]
    return _with_disposals(packed, disposals, output)


class _Composer:
    """Composes the transaction of any set of legs, each set once."""

    def __init__(self, output: Output, legs: Sequence[SwapLeg]) -> None:
        self._output = output
        self._legs = legs
        self._composed: dict[tuple[int, ...], Packed] = {}

    def compose(self, positions: Iterable[int]) -> Packed:
        ordered = tuple(sorted(positions))
        if ordered not in self._composed:
            self._composed[ordered] = _without_useless_tables(self._packed(ordered))
        return self._composed[ordered]

    def _packed(self, ordered: tuple[int, ...]) -> Packed:
        reference = new_reference(dont_front=self._output.dont_front)
        legs = [self._legs[position] for position in ordered]
        sales = [instruction for leg in legs for instruction in leg.instructions]
        guard = self._output.guard(sum(leg.minimum for leg in legs), reference)
        # What is unwrapped leaves the account that the guard looks at, so that is done once, after all legs. The swap
        # API need not name it.
        named = _distinct(leg.cleanup for leg in legs if leg.cleanup is not None)
        cleanups = [self._output.unwrapping] if self._output.is_unwrapped else named
        closings = [instruction for leg in legs for instruction in leg.closing]
        return Packed(
            wallet=self._output.wallet,
            legs=ordered,
            reference=reference,
            instructions=(*_without_repeated_creations(sales), guard, *cleanups, *closings),
            lookup_tables=tuple({table.key: table for leg in legs for table in leg.lookup_tables}.values()),
        )


def _fewest(composer: _Composer, count: int, apart: Collection[int]) -> list[Packed]:
    alone = [composer.compose([position]) for position in range(count)]
    too_large = [position for position, packed in enumerate(alone) if not packed.fits]
    if too_large:
        raise LegsTooLargeError(too_large)
    together = (position for position in range(count) if position not in apart)
    largest_first = sorted(together, key=lambda position: -alone[position].size)
    attempts = [
        _filled(composer, largest_first[start:] + largest_first[:start])
        for start in range(min(len(largest_first), _STARTS))
    ]
    best = min(attempts, key=lambda attempt: (len(attempt), sum(packed.size for packed in attempt)), default=[])
    return sorted([*best, *(alone[position] for position in apart)], key=lambda packed: packed.legs)


def _filled(composer: _Composer, order: Sequence[int]) -> list[Packed]:
    """Fill one transaction after the other: the first leg left, then always the one that shares most with it."""
    left, filled = list(order), []
    while left:
        packed = composer.compose([left.pop(0)])
        while grown := _grown(composer, packed, left):
            packed, position = grown
            left.remove(position)
        filled.append(packed)
    return filled


def _grown(composer: _Composer, packed: Packed, left: Sequence[int]) -> tuple[Packed, int] | None:
    """Return the transaction with the leg that saves most bytes there, or None if none fits."""
    candidates = [(composer.compose([*packed.legs, position]), position) for position in left]
    fitting = [candidate for candidate in candidates if candidate[0].fits]
    return min(fitting, key=lambda candidate: candidate[0].size - composer.compose([candidate[1]]).size, default=None)


def _without_closings_of_used_accounts(one: Packed, packed: Sequence[Packed], legs: Sequence[SwapLeg]) -> Packed:
    """Keep open what another transaction uses: landing later, it would have to create the account again."""
    used = {
        account.pubkey
        for other in packed
        if other is not one
        for instruction in other.instructions
        for account in instruction.accounts
    }
    unwanted = [
        instruction
        for position in one.legs
        if any(_closes(closing) and closing.accounts[0].pubkey in used for closing in legs[position].closing)
        for instruction in legs[position].closing
    ]
    return replace(one, instructions=tuple(each for each in one.instructions if each not in unwanted))


def _with_disposals(packed: Sequence[Packed], disposals: Sequence[Disposal], output: Output) -> list[Packed]:
    """Return the transactions with these, in as many more as they need, up to the most of a sweep.

    A transaction without room for one is not tried with the next, since all of them take about as much.
    """
    filled = list(packed)
    positions = {"": 0}
    for disposal in disposals:
        at = positions.setdefault(disposal.kind, len(filled))
        while at < len(filled) and not (grown := filled[at].followed_by(disposal.instructions)).fits:
            at += 1
        positions[disposal.kind] = at
        if at < len(filled):
            filled[at] = grown
        elif len(filled) < MAX_TRANSACTIONS:
            filled.append(_selling_nothing(output).followed_by(disposal.instructions))
    return filled


def _selling_nothing(output: Output) -> Packed:
    reference = new_reference(dont_front=output.dont_front)
    return Packed(output.wallet, (), reference, (output.marker(reference),), ())


def _without_needless_creations(output: Output, legs: Sequence[SwapLeg], existing: Collection[Pubkey]) -> list[SwapLeg]:
    """Leave out what would create an account that exists, unless a transaction of these legs closes it."""
    closings = [instruction for leg in legs for instruction in (*leg.instructions, leg.cleanup, *leg.closing)]
    closings += [output.unwrapping] if output.is_unwrapped else []
    closed = {one.accounts[0].pubkey for one in closings if one is not None and _closes(one)}
    kept = set(existing) - closed
    return [
        replace(leg, instructions=tuple(one for one in leg.instructions if _created_by(one) not in kept))
        for leg in legs
    ]


def _closes(instruction: Instruction) -> bool:
    return instruction.program_id in TOKEN_PROGRAMS and instruction.data == _CLOSE_ACCOUNT


def _created_by(instruction: Instruction) -> Pubkey | None:
    """Return the associated account that an instruction creates if there is none; None if it does something else."""
    is_creation = instruction.program_id == ASSOCIATED_TOKEN and instruction.data == _CREATE_IDEMPOTENT
    return instruction.accounts[1].pubkey if is_creation else None


def _distinct(instructions: Iterable[Instruction]) -> list[Instruction]:
    found: list[Instruction] = []
    for instruction in instructions:
        if instruction not in found:
            found.append(instruction)
    return found


def _without_repeated_creations(instructions: Iterable[Instruction]) -> list[Instruction]:
    """Leave out what would create an associated account that an earlier instruction created, unless closed since."""
    kept: list[Instruction] = []
    created: dict[Pubkey, Instruction] = {}
    for instruction in instructions:
        account = _created_by(instruction)
        if account is not None:
            if created.get(account) == instruction:
                continue
            created[account] = instruction
        elif _closes(instruction):
            created.pop(instruction.accounts[0].pubkey, None)
        kept.append(instruction)
    return kept


def _without_useless_tables(packed: Packed) -> Packed:
    """Leave out lookup tables that take more bytes than they save."""
    for table in packed.lookup_tables:
        fewer = replace(packed, lookup_tables=tuple(kept for kept in packed.lookup_tables if kept.key != table.key))
        if fewer.size <= packed.size:
            packed = fewer
    return packed
