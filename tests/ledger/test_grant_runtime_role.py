"""The role that the service runs as can do its work and cannot rewrite the ledger; tested with a real role."""

from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction

from ledger.models import Posting
from partners.models import Partner
from tests.factories.ledger import book_fee, book_payable, book_payout, undo_payout

pytestmark = pytest.mark.django_db

ROLE = "sweepapi_test_runtime"


@pytest.fixture
def runtime_role() -> Iterator[None]:
    """Switch to the runtime role, which is created in the test's transaction and rolled back with it."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE}")
        call_command("grant_runtime_role", ROLE, verbosity=0)
        cursor.execute(f"SET LOCAL ROLE {ROLE}")
    yield
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")


@pytest.mark.usefixtures("runtime_role")
def test_the_runtime_role_posts_and_reads(partner: Partner) -> None:
    book_fee(partner)
    connection.check_constraints()
    assert Posting.objects.count() == 3


@pytest.mark.usefixtures("runtime_role")
def test_the_runtime_role_records_and_reverses_payouts(partner: Partner) -> None:
    book_payable(partner, 400)
    reversal = undo_payout(book_payout(partner, 400))
    connection.check_constraints()
    assert reversal.kind == "payout_reversal"


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("ledger_account", "id"),
        ("ledger_asset", "id"),
        ("ledger_journalentry", "id"),
        ("ledger_posting", "id"),
        ("ledger_finality", "entry_id"),
        ("ledger_payout", "entry_id"),
        ("ledger_checkpoint", "id"),
        ("ledger_subtreehash", "id"),
        ("ledger_statementera", "id"),
    ],
)
@pytest.mark.parametrize("statement", ["UPDATE {0} SET {1} = {1}", "DELETE FROM {0}", "TRUNCATE {0} CASCADE"])
@pytest.mark.usefixtures("runtime_role")
def test_the_runtime_role_cannot_rewrite_the_ledger(statement: str, table: str, column: str) -> None:
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format(table, column))


@pytest.mark.usefixtures("runtime_role")
def test_the_runtime_role_may_not_truncate_any_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            " AND has_table_privilege(%s, oid, 'TRUNCATE')",
            [ROLE],
        )
        assert cursor.fetchall() == []


@pytest.mark.usefixtures("runtime_role")
def test_the_runtime_role_cannot_disable_the_triggers() -> None:
    with pytest.raises(ProgrammingError, match="must be owner"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_posting DISABLE TRIGGER ALL")


@pytest.mark.parametrize("table", ["auth_user", "django_session", "mfa_authenticator", "console_failedlogins"])
def test_only_the_consoles_role_reads_accounts_and_sessions(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE}")
        allowed = []
        for options in ([], ["--console"]):
            call_command("grant_runtime_role", ROLE, *options, verbosity=0)
            cursor.execute("SELECT has_table_privilege(%s, %s, 'SELECT')", [ROLE, table])
            allowed += cursor.fetchone()
    assert allowed == [False, True]


def test_a_missing_role_and_a_superuser_are_refused() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolname FROM pg_roles WHERE rolsuper LIMIT 1")
        [superuser] = cursor.fetchone()
    for role in ("missing_role", superuser):
        with pytest.raises(CommandError, match="not a superuser"):
            call_command("grant_runtime_role", role)
