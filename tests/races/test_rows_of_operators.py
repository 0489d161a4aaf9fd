"""Keys are revoked, and events explained, once: who comes second changes nothing of what the first one wrote."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from partners.models import ApiKey
from sweepapi.evm.encoding.responses import Log, MinedLog
from sweepapi.modes import Mode
from sweeps.rails.evm.follow.emitted import Emitted
from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.reconcile import unmatched
from sweeps.rails.evm.reconcile.comparing import Unmatched
from tests.factories.ledger import random_hash
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import CONTRACT, LOCAL
from tests.races.interleaving import Race, assert_serial

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = timedelta(seconds=1)

# --- keys -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """A live key, and what was written about it according to those who wrote, in the order in which they ended."""

    row: ApiKey
    used_at: datetime
    times: list[datetime | None] = field(default_factory=list)

    def stored(self) -> ApiKey:
        return ApiKey.objects.get(pk=self.row.pk)


def live() -> Key:
    row, _ = ApiKey.issue(partner=PartnerFactory.create(), name="races", mode=Mode.TEST)
    return Key(row, timezone.now())


def revoked(key: Key) -> None:
    row = key.stored()
    row.revoke()
    key.times.append(row.revoked_at)


def used(key: Key) -> None:
    ApiKey.touch(key.row.pk, key.used_at)
    key.times.append(key.used_at)


def used_a_second_later(key: Key) -> None:
    ApiKey.touch(key.row.pk, key.used_at + SECOND)
    key.times.append(key.used_at + SECOND)


def rotated(key: Key) -> str:
    try:
        key.stored().rotate(overlap=timedelta(hours=1))
    except ValueError:
        return "refused"
    return "rotated"


def successors(key: Key) -> int:
    return ApiKey.objects.exclude(pk=key.row.pk).count()


def revocations_agree(key: Key) -> bool:
    return set(key.times) == {key.stored().revoked_at}


def first_use_is_kept(key: Key) -> bool:
    return key.times[0] == key.stored().last_used_at


def test_a_key_keeps_the_time_of_its_first_revocation() -> None:
    race = Race(live, revoked, revoked, revocations_agree)
    assert race.in_turn() == (None, None, True)
    assert_serial(race)


def test_a_busy_key_is_written_once_a_minute() -> None:
    race = Race(live, used, used_a_second_later, first_use_is_kept)
    assert race.in_turn() == (None, None, True)
    assert_serial(race)


def test_a_key_has_one_successor() -> None:
    race = Race(live, rotated, rotated, successors)
    assert race.in_turn() == ("rotated", "refused", 1)
    assert_serial(race)


# --- events of our contracts ------------------------------------------------------------------------------------------


def found() -> Unmatched:
    """Return an event that is not ours."""
    mined = MinedLog(Log(CONTRACT, (), b""), 0, random_hash(), 100, random_hash())
    return Unmatched(mined, Emitted("SweepExecutedV5", "1", None, {}), "Not ours.")


def found_and_stored() -> Unmatched:
    event = found()
    stored(event)
    return event


def row_of(event: Unmatched) -> UnmatchedEvent:
    return UnmatchedEvent.objects.get(block_hash=event.mined.block_hash)


def stored(event: Unmatched) -> None:
    unmatched.store(LOCAL, [event])


def explained_by_alice(event: Unmatched) -> bool:
    return unmatched.explain(event_id=row_of(event).pk, explanation="A test.", explained_by="alice")


def explained_by_bob(event: Unmatched) -> bool:
    return unmatched.explain(event_id=row_of(event).pk, explanation="A mistake.", explained_by="bob")


def explanation(event: Unmatched) -> tuple[str, str, str]:
    row = row_of(event)
    return row.status, row.explanation, row.explained_by


def test_an_event_that_two_runs_find_is_stored_once() -> None:
    assert_serial(Race(found, stored, stored, explanation))


def test_an_event_keeps_its_first_explanation() -> None:
    assert_serial(Race(found_and_stored, explained_by_alice, explained_by_bob, explanation))
