"""The transactions of our fee accounts in a range of final slots that are written as a sweep's are."""

from collections.abc import Iterator
from dataclasses import dataclass

from sweepapi.fees import Split, floor_share
from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS, public_key
from sweepapi.solana.landed.account_scan import read_agreed, scan
from sweepapi.solana.landed.history import ClusterHead
from sweepapi.solana.landed.opinions import Found
from sweepapi.solana.packing.guard import Guarded, read_guard
from sweeps.books.comparison import Blocks
from sweeps.rails.solana_v1.build.terms import fee_account
from sweeps.rails.solana_v1.follow.followed import user_gain
from sweeps.rails.solana_v1.reconcile.reconciling import fee_accounts


@dataclass(frozen=True)
class Paid:
    """A final transaction that paid its user, what its guard names, and the fee, which may be rounded to zero."""

    found: Found
    guarded: Guarded
    fee: int
    user_amount: int

    @property
    def signature(self) -> str:
        return self.found.landed.signature

    def split(self, share_bps: int) -> Split:
        partner_fee = floor_share(self.fee, share_bps)
        gross = self.fee + self.user_amount
        return Split(gross, self.fee, partner_fee, self.fee - partner_fee, self.user_amount)


@dataclass(frozen=True)
class GuardedRead:
    """What the transactions of one fee account show."""

    head: ClusterHead
    found: dict[str, Found]  # by signature
    paid: list[Paid]


def accounts_of(registry: Networks, network: str, venue: str) -> list[str]:
    """Return the fee accounts of the outputs that are configured, and of those that sweeps were built with."""
    mints = [public_key(token.mint) for token in registry.cluster(network).output_tokens]
    configured = {str(fee_account(registry.fee_wallet, mint, program)) for mint in mints for program in TOKEN_PROGRAMS}
    return sorted(configured.union(fee_accounts(network, venue)))


def read(registry: Networks, network: str, venue: str, slots: Blocks) -> Iterator[GuardedRead]:
    """Yield what each fee account's transactions show; raises ``ChainUnavailableError`` if one can't be read."""
    pool = registry.pool(network)
    for account in accounts_of(registry, network, venue):
        scanned = scan(pool, account, first_slot=slots.first)
        listed = [one for one in scanned.listed if one.slot <= slots.last]
        found = read_agreed(pool, listed)
        if len(found) < len(listed):
            raise ChainUnavailableError(f"the providers do not show the same transactions of {account}")
        yield GuardedRead(
            scanned.head, found, [paid for one in found.values() if (paid := _paid(account, one)) is not None]
        )


def _paid(account: str, found: Found) -> Paid | None:
    landed = found.landed
    guarded = read_guard(landed.instructions) if landed.is_successful else None
    if guarded is None:
        return None
    fee = landed.account_gain(account, guarded.mint)
    user_amount = user_gain(landed, guarded.wallet, guarded.mint)
    return Paid(found, guarded, fee, user_amount) if fee >= 0 and user_amount > 0 else None
