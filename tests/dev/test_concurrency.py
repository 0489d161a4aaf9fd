"""The mutants of the service's concurrency: each safeguard is removed once, and nothing else changes."""

from pathlib import Path

import pytest

from dev.concurrency.mutants import Mutant, mutants_in, mutants_of

ROOT = Path(__file__).parents[2]
SOURCE = """
def claim(rows):
    with transaction.atomic():
        taken = rows.filter(is_open=True).select_for_update(skip_locked=True)[:10]  # “ten”
        Sweep.objects.filter(id=taken[0].id, lease=None, version=3).update(lease=1)
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended('name', 0))")
        cursor.execute("SELECT id FROM sweep WHERE id = %s AND lease_token = %s ORDER BY id FOR UPDATE SKIP LOCKED")
        Account.objects.bulk_create(accounts, ignore_conflicts=True)
        transaction.on_commit(lambda: nudge(taken))

class Meta:
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
    'WHERE id = %s ORDER BY id FOR UPDATE SKIP LOCKED"': "compare-and-set",
    "ignore_conflicts=False": "ignore_conflicts",
    "(lambda: nudge(taken))()": "commit hook",
}


def mutants() -> list[Mutant]:
    return list(mutants_in("claims.py", SOURCE))


@pytest.mark.parametrize(("changed", "kind"), CHANGED.items())
def test_each_safeguard_is_removed_alone(changed: str, kind: str) -> None:
    [mutant] = [one for one in mutants() if one.kind == kind and changed in one.apply(SOURCE) and not one.key]
    before, after = SOURCE.splitlines(), mutant.apply(SOURCE).splitlines()
    assert [number for number, lines in enumerate(zip(before, after, strict=True), 1) if len(set(lines)) > 1] == [
        mutant.line
    ]


def test_a_unique_key_is_dropped_by_its_name() -> None:
    assert [mutant.key for mutant in mutants() if mutant.kind == "unique key"] == ["name_is_unique"]


def test_nothing_else_is_a_mutant() -> None:
    assert len(mutants()) == len(CHANGED) + 1


def test_every_mutant_of_the_service_still_compiles() -> None:
    found = mutants_of(ROOT)
    assert len(found) >= 30
    for mutant in (one for one in found if not one.key):
        compile(mutant.apply((ROOT / mutant.file).read_text()), mutant.file, "exec")
