"""The mutants of the service's concurrency: each safeguard is removed once, and nothing else changes."""

from pathlib import Path

import pytest

from dev.concurrency.mutants import Mutant, mutants_in, mutants_of
from tests.races.rules import unique_keys

ROOT = Path(__file__).parents[2]
SOURCE = """
def claim(rows):
    with transaction.atomic():
        taken = rows.filter(is_open=True).select_for_update(skip_locked=True)[:10]  # “ten”
        Sweep.objects.filter(id=taken[0].id, lease=None, version=3).update(lease=1)
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended('name', 0))")
        cursor.execute("UPDATE sweep SET a = 1 WHERE is_open AND lease_token = %s ORDER BY id FOR UPDATE SKIP LOCKED")
        Account.objects.bulk_create(accounts, ignore_conflicts=True)
        transaction.on_commit(lambda: nudge(taken))

def touch(self, stale):
    held = Sweep.objects.filter(stale, pk=self.pk)
    Sweep.objects.update(version=F("version") + 1)
    held.order_by("id").update(next_check_at=None)
    return sweep.lease_token != lease or Mark.of(sweep) == mark

def held(claim):
    return Sweep.objects.filter(id__in=claim.ids, lease_token=claim.lease)

def release(claim):
    held(claim).update(lease_token=None)

class Sweep(models.Model):
    entry = models.OneToOneField(Entry, primary_key=True)
    permit = models.OneToOneField(Permit, null=True)
    name = models.CharField(unique=True)

    class Meta:
        triggers = [pgtrigger.Trigger(name="version_rises", func="NEW.version := OLD.version + 1; RETURN NEW;")]
        constraints = [models.UniqueConstraint(fields=["name"], name="name_is_unique")]
"""
CHANGED = {
    ".filter(is_open=True).all()[:10]": "lock",
    "skip_locked=False": "skip_locked",
    "filter(id=taken[0].id, version=3).update": "compare-and-set",
    "filter(id=taken[0].id, lease=None, ).update": "compare-and-set",
    "SELECT hashtextextended('name', 0) IS NOT NULL\"": "lock",
    'AND lease_token = %s ORDER BY id"': "lock",
    'ORDER BY id FOR UPDATE"': "skip_locked",
    "WHERE is_open AND TRUE ORDER BY": "compare-and-set",
    "WHERE TRUE AND lease_token": "compare-and-set",
    "ignore_conflicts=False": "ignore_conflicts",
    "(lambda: nudge(taken))()": "commit hook",
    "held = Sweep.objects.filter(pk=self.pk)": "compare-and-set",
    "filter(id__in=claim.ids, )": "compare-and-set",
    "    None\n    held.order_by": "version",
    "return False or Mark.of": "compare-and-set",
    "lease or True": "compare-and-set",
}


def mutants() -> list[Mutant]:
    return mutants_in("claims.py", SOURCE)


@pytest.mark.parametrize(("changed", "kind"), CHANGED.items())
def test_each_safeguard_is_removed_alone(changed: str, kind: str) -> None:
    [mutant] = [one for one in mutants() if one.kind == kind and changed in one.apply(SOURCE) and not one.rule]
    before, after = SOURCE.splitlines(), mutant.apply(SOURCE).splitlines()
    assert [number for number, lines in enumerate(zip(before, after, strict=True), 1) if len(set(lines)) > 1] == [
        mutant.line
    ]


def test_rules_of_the_database_are_dropped_by_their_names() -> None:
    rules = {mutant.rule: mutant.kind for mutant in mutants() if mutant.rule}
    assert rules == {
        "Sweep.permit": "unique key",
        "Sweep.name": "unique key",
        "name_is_unique": "unique key",
        "version_rises": "version",
    }


def test_nothing_else_is_a_mutant() -> None:
    assert len(mutants()) == len(CHANGED) + 4


def test_every_mutant_of_the_service_still_compiles() -> None:
    found = mutants_of(ROOT)
    assert len(found) >= 30
    for mutant in (one for one in found if not one.rule):
        compile(mutant.apply((ROOT / mutant.file).read_text()), mutant.file, "exec")


def test_every_unique_key_of_the_schema_is_a_mutant() -> None:
    assert {key.rule for key in unique_keys()} == {
        mutant.rule for mutant in mutants_of(ROOT) if mutant.kind == "unique key"
    }
