"""What a request wants burnt: only amounts that it names, and what would sell only if it repeats the value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings
from solders.instruction import Instruction
from spl.token.instructions import burn_checked
from spl.token.models import BurnCheckedParams

from sweepapi.errors import FieldError, RefusedToken
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.encoding.addresses import public_key
from sweepapi.solana.packing.packing import Packed
from sweepapi.solana.tokens.mints import Mint
from sweepapi.worth.left_out import INSUFFICIENT_BALANCE, NOT_HELD
from sweeps.protocol.request import BurnInput
from sweeps.rails.solana_v1 import obstacles
from sweeps.rails.solana_v1.build.closings import emptied
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.obstacles import Obstacle

WRAPPED = Obstacle("unsupported", "Wrapped SOL is unwrapped with `unwrapSol`, and not burnt.")
VALUABLE = "It would sell for {value}: repeat that value in `acceptedValue` to burn it."
FAILS = "Its burning fails in a simulation."


@dataclass(frozen=True)
class Burn:
    """An amount to burn with the account that holds it."""

    wanted: BurnInput
    mint: Mint
    holding: Holding
    value: int | None = None  # in the reference stablecoin; None if no one buys it

    @property
    def empties(self) -> bool:
        """Whether its account can be closed then."""
        return emptied(self.holding, self.wanted.amount)

    @property
    def instruction(self) -> Instruction:
        token = self.holding.token
        return burn_checked(
            BurnCheckedParams(
                program_id=token.program,
                mint=token.mint,
                account=self.holding.key,
                owner=token.owner,
                amount=self.wanted.amount,
                decimals=self.mint.decimals,
            )
        )

    def is_in(self, packed: Packed) -> bool:
        """Whether a transaction burns it."""
        return self.instruction in packed.instructions


def find_burns(wanted: Sequence[BurnInput], facts: ClusterFacts) -> tuple[list[Burn], list[FieldError]]:
    """Return what the wallet can burn, and what is wrong with the rest."""
    found = [_found(i, one, facts) for i, one in enumerate(wanted)]
    burns = [one for one in found if isinstance(one, Burn)]
    return burns, [one for one in found if isinstance(one, FieldError)]


def unaccepted(burns: Sequence[Burn], wanted: Sequence[BurnInput]) -> Iterator[FieldError]:
    """Yield the burns of what is worth more than the setting, and more than the request accepts to lose."""
    for burn in burns:
        value = burn.value or 0
        if value > max(settings.SOLANA_BURN_VALUE_LIMIT, burn.wanted.accepted_value or 0):
            field = f"burn[{wanted.index(burn.wanted)}].acceptedValue"
            yield RefusedToken(field, "value_not_accepted", VALUABLE.format(value=value), value=str(value))


def _found(position: int, wanted: BurnInput, facts: ClusterFacts) -> Burn | FieldError:
    key = public_key(wanted.asset)
    mint, holding = facts.mints[key], facts.associated(key)
    if mint is None:
        return _refused(position, obstacles.UNKNOWN_MINT)
    if holding is None or holding.token.amount < wanted.amount:
        held = 0 if holding is None else holding.token.amount
        return _refused(position, Obstacle(INSUFFICIENT_BALANCE, NOT_HELD.format(balance=held)))
    if holding.token.is_native:
        return _refused(position, WRAPPED)
    return _refused(position, obstacles.FROZEN) if holding.token.is_frozen else Burn(wanted, mint, holding)


def _refused(position: int, obstacle: Obstacle) -> FieldError:
    return FieldError(f"burn[{position}].mint", obstacle.code, obstacle.message)
