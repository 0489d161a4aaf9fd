"""Migrations are frozen once they are committed: databases have run them, so a change needs a new one."""

from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).parent / "migrations.sha256"  # made by `sha256sum`; a new migration adds its line


def test_every_migration_is_as_it_was_recorded() -> None:
    lines = [line.split() for line in RECORD.read_text(encoding="utf-8").splitlines()]
    recorded = {path: digest for digest, path in lines}
    found = {
        str(path.relative_to(ROOT)): sha256(path.read_bytes()).hexdigest()
        for app in ("partners", "ledger", "sweeps", "indexer")
        for path in (ROOT / app).rglob("migrations/0*.py")
    }
    assert found == recorded
