"""Operators see in the admin what was signed for partners, and under which era, and no one changes it there."""

from datetime import timedelta
from functools import partial

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from ledger.models import Checkpoint, StatementEra
from ledger.proofs import checkpoints
from ledger.proofs.signing import sign_months
from ledger.statements.month import Month
from partners.models import Partner
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at
from tests.factories.sweeps import LOCAL
from tests.operator_browser import reverse

pytestmark = pytest.mark.django_db

APRIL, MAY = Month(2026, 4), Month(2026, 5)
LIST = reverse("admin:ledger_checkpoint_changelist")


@pytest.fixture
def other(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> Partner:
    """Sign April of both partners in the first era, and May of both in another one."""
    other = PartnerFactory.create()
    fee_at(APRIL.start, partner, 1)
    fee_at(APRIL.start, other, 1, network=LOCAL)
    monkeypatch.setattr(checkpoints, "database_time", lambda: APRIL.end + timedelta(days=1))
    sign_months()
    call_command("begin_statement_era", reason="The backup of the night was restored.")
    monkeypatch.setattr(checkpoints, "database_time", lambda: MAY.end + timedelta(days=1))
    sign_months()
    return other


def listed(ops: Client, **chosen: str) -> list[tuple[str, str]]:
    """Return month and partner of each row, in the order of the page."""
    rows = ops.get(LIST, chosen).context["cl"].result_list
    return [(row.month, row.partner.name) for row in rows]


def test_checkpoints_are_listed_newest_month_first_and_found_by_partner_mode_era_and_root(
    ops: Client, partner: Partner, other: Partner
) -> None:
    names = sorted([partner.name, other.name])
    assert listed(ops) == [(str(month), name) for month in (MAY, APRIL) for name in names]
    assert listed(ops, partner__id__exact=str(other.pk)) == [("2026-05", other.name), ("2026-04", other.name)]
    assert {name for _, name in listed(ops, mode__exact="test")} == {other.name}
    era = StatementEra.objects.get()
    assert {month for month, _ in listed(ops, q=era.name)} == {"2026-05"}
    stored = Checkpoint.objects.get(partner=partner, month="2026-04")
    root_in_base64 = stored.note.splitlines()[2]
    assert {name for _, name in listed(ops, q=root_in_base64)} == {partner.name}
    assert era.name in ops.get(LIST).content.decode()


@pytest.mark.usefixtures("other")
def test_a_checkpoint_is_shown_with_its_root_its_era_and_the_note_as_it_was_signed(
    ops: Client, partner: Partner
) -> None:
    era = StatementEra.objects.get()
    for month, name in (("2026-04", "0"), ("2026-05", era.name)):
        stored = Checkpoint.objects.get(partner=partner, month=month)
        assert stored.era == name
        page = ops.get(reverse("admin:ledger_checkpoint_change", args=[stored.pk])).content.decode()
        for text in (partner.name, month, bytes(stored.root).hex(), f"{stored.issued_at:%Y-%m-%d %H:%M:%S} UTC"):
            assert text in page
        assert f">{escape(stored.note)}</pre>" in page


@pytest.mark.usefixtures("other")
def test_the_eras_are_listed_with_their_reasons(ops: Client) -> None:
    era = StatementEra.objects.get()
    for page in (
        ops.get(reverse("admin:ledger_statementera_changelist")),
        ops.get(reverse("admin:ledger_statementera_change", args=[era.pk])),
    ):
        assert era.name in page.content.decode()
        assert "The backup of the night was restored." in page.content.decode()


@pytest.mark.usefixtures("other")
@pytest.mark.parametrize("name", ["checkpoint", "statementera"])
def test_not_even_a_superuser_can_write_what_was_signed(ops: Client, name: str) -> None:
    row = (Checkpoint if name == "checkpoint" else StatementEra)._default_manager.first()  # noqa: SLF001
    assert row is not None
    assert ops.get(reverse(f"admin:ledger_{name}_add")).status_code == 403
    assert ops.post(reverse(f"admin:ledger_{name}_change", args=[row.pk]), {"reason": "x"}).status_code == 403
    assert ops.post(reverse(f"admin:ledger_{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


@pytest.mark.usefixtures("other")
def test_the_list_takes_the_same_queries_however_many_rows_it_has(ops: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for month in (MAY, MAY.shifted(4)):
        monkeypatch.setattr(checkpoints, "database_time", partial(month.end.__add__, timedelta(days=1)))
        sign_months()
        with CaptureQueriesContext(connection) as queries:
            ops.get(LIST)
        counts.append(len(queries))
    assert counts[0] == counts[1]
