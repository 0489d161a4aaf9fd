"""Finds executions in final blocks that the service does not know: above all those of sweeps that it closed.

Wallets may replace a blockhash before they sign, so a transaction can land when the one that it was built with has
expired. Each pays the fee, so it is among the transactions of a fee account, and names its reference key.
"""

import time
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from uuid import UUID

import structlog
from django.db.models import Min

from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.landed.account_scan import AccountScan, read_agreed, scan
from sweepapi.solana.landed.history import ClusterHead, Listed
from sweepapi.solana.landed.opinions import Found
from sweepapi.solana.landed.progress import SearchSighting
from sweepapi.solana.landed.sightings import Sighting
from sweeps.models import Execution, SweepTransaction
from sweeps.protocol.rail import FinalSpan
from sweeps.rails.solana_v1.follow.followed import FollowedExecution, follow
from sweeps.rails.solana_v1.follow.following import SolanaReading
from sweeps.rails.solana_v1.models import BuiltTransaction, ScannedSlots
from sweeps.store.reading import read

log = structlog.get_logger(__name__)

READ_AT_ONCE = 100
RUNS_EVERY_SECONDS = 60  # as beat starts them
# If a provider was ahead of the others at the build, a transaction may have landed below the slot that the build saw.
MARGIN_SLOTS = 64


def find_executed(registry: Networks, network: str, venue: str) -> Iterator[FinalSpan]:
    """Yield the spans of one scan of each fee account; the next call goes on after those that are done."""
    accounts = list(fee_accounts(network, venue))
    # What can't be settled ends the run, so each run begins with another account.
    first = int(time.time()) // RUNS_EVERY_SECONDS % max(len(accounts), 1)
    for account in accounts[first:] + accounts[:first]:
        yield from _scan_account(registry.pool(network), network, venue, account)


def fee_accounts(network: str, venue: str) -> Iterator[str]:
    """Yield them all; each is found by one step through the index."""
    built = BuiltTransaction.objects.filter(execution__network=network, execution__venue=venue)
    accounts = built.order_by("fee_account").values_list("fee_account", flat=True)
    account = accounts.first()
    while account is not None:
        yield account
        account = accounts.filter(fee_account__gt=account).first()


def _scan_account(pool: ProviderPool, network: str, venue: str, account: str) -> Iterator[FinalSpan]:
    cursor = _cursor(network, venue, account)
    try:
        scanned = scan(pool, account, first_slot=cursor.next_slot)
    except ChainUnavailableError as error:
        log.warning("scan_failed", network=network, account=account, error=str(error))
        return
    for last_slot, span in _spans(scanned):
        unknown = _unknown(network, span)
        found = read_agreed(pool, unknown)
        yield FinalSpan(readings=list(readings_of(network, venue, scanned.head, found)), blocks_left=0)
        if len(found) < len(unknown):
            log.warning("transactions_missing", network=network, account=account, count=len(unknown) - len(found))
            return
        moved = ScannedSlots.objects.filter(id=cursor.pk, next_slot=cursor.next_slot).update(next_slot=last_slot + 1)
        if not moved:
            return  # it was moved meanwhile; the next run goes on from there
        cursor.next_slot = last_slot + 1


def _cursor(network: str, venue: str, account: str) -> ScannedSlots:
    cursor = ScannedSlots.objects.filter(network=network, account=account).first()
    if cursor is None:
        executions = Execution.objects.filter(network=network, venue=venue, built__fee_account=account)
        lowest = executions.aggregate(slot=Min("built_at_height"))["slot"]
        cursor, _ = ScannedSlots.objects.get_or_create(
            network=network, account=account, defaults={"next_slot": max(lowest - MARGIN_SLOTS, 0)}
        )
    return cursor


def _spans(scanned: AccountScan) -> Iterator[tuple[int, Sequence[Listed]]]:
    """Yield the last slot of each span with its transactions; those of one slot stay together."""
    span: list[Listed] = []
    for one in scanned.listed:
        if len(span) >= READ_AT_ONCE and one.slot > span[-1].slot:
            yield span[-1].slot, span
            span = []
        span.append(one)
    yield scanned.last_slot, span


def _unknown(network: str, span: Sequence[Listed]) -> list[Listed]:
    """Return those that did not execute a sweep, as far as is known."""
    signatures = [one.signature for one in span]
    accepted = SweepTransaction.objects.filter(
        tx_hash__in=signatures, sweep__network=network, status=SweepTransaction.Status.ACCEPTED
    )
    known = set(accepted.values_list("tx_hash", flat=True))
    return [one for one in span if one.signature not in known]


def readings_of(
    network: str, venue: str, head: ClusterHead, found: Mapping[str, Found]
) -> Iterator[tuple[UUID, SolanaReading]]:
    """Yield the sweeps that these transactions executed; what only names a reference key is left out."""
    by_key: dict[str, list[Found]] = defaultdict(list)
    for one in found.values():
        for key in one.landed.before:
            by_key[key].append(one)
    # Of an adopted one it is not known what was built, so no transaction can be recognised by that.
    named = Execution.objects.filter(network=network, venue=venue, execution_id__in=by_key, built__isnull=False)
    for followed in follow(list(read(named.values_list("sweep_id", flat=True)).values())):
        ours = {one.id: _executing(one, by_key[one.reference]) for one in followed.executions}
        sightings: dict[Hashable, Sighting] = {key: _sighting(head, each) for key, each in ours.items() if each}
        if sightings:
            log.info("execution_found", sweep_id=str(followed.sweep_id), network=network)
            yield followed.sweep_id, SolanaReading(sightings, is_final=True)


def _executing(execution: FollowedExecution, named: Sequence[Found]) -> tuple[Found, ...]:
    return tuple(one for one in named if execution.is_built(one.landed) and one.landed.is_successful)


def _sighting(head: ClusterHead, found: tuple[Found, ...]) -> SearchSighting:
    return SearchSighting(head, found, read_up_to="", is_whole=False, is_expired=False)
