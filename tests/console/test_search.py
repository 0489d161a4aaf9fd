"""The search finds what was typed by its shape, shows an operator what the role may see, and reads by indexes."""

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from partners.models import ApiKey, Partner
from sweeps.models import Sweep, SweepTransaction
from tests.factories.ledger import book_fee
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import SweepFactory
from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db
SEARCH = reverse("admin:search")


def links(browser: ConsoleClient, term: str) -> Sequence[str]:
    shown = browser.get(SEARCH, {"s": term, "extended": "1"}).context
    return [] if shown is None else [result.link for result in shown["results"]]


@pytest.fixture
def sweep() -> Sweep:
    found: Sweep = SweepFactory.create(client_reference="Order 1017")
    return found


def report(sweep: Sweep, tx_hash: str) -> None:
    SweepTransaction.objects.create(sweep=sweep, execution=sweep.executions.get(), tx_hash=tx_hash)


def test_a_sweep_is_found_by_id_hash_wallet_and_reference_and_by_how_id_and_hash_begin(
    ops: ConsoleClient, sweep: Sweep
) -> None:
    SweepFactory.create()
    tx_hash = "0x" + "ab" * 32
    report(sweep, tx_hash)
    page = reverse("admin:sweeps_sweep_change", args=[sweep.pk])
    wallet = sweep.wallet
    in_capitals = f"0x{tx_hash[2:].upper()}"
    terms = [str(sweep.pk), tx_hash, in_capitals, tx_hash[:10], wallet, wallet.lower(), "Order 1017"]
    assert {term: links(ops, f" {term} ") for term in terms} == {term: [page] for term in terms}
    assert page in links(ops, str(sweep.pk)[:13])
    assert links(ops, tx_hash[:9]) == []
    assert links(ops, "order 1017") == []  # a reference is the partner's own text


def test_entries_partners_and_keys_are_found(ops: ConsoleClient, partner: Partner) -> None:
    entry = book_fee(partner)
    key, plaintext = ApiKey.issue(partner=partner, name="server", mode="test")
    by_name, by_id = links(ops, partner.name[1:].upper()), links(ops, str(partner.pk))
    assert by_name == by_id == [reverse("admin:partners_partner_change", args=[partner.pk])]
    assert links(ops, str(entry.pk)) == [reverse("admin:ledger_journalentry_change", args=[entry.pk])]
    page = reverse("admin:partners_apikey_change", args=[key.pk])
    assert links(ops, key.key_id) == links(ops, plaintext.rsplit("_", 1)[0]) == [page]


def test_an_answer_is_as_new_as_the_rows(ops: ConsoleClient, sweep: Sweep) -> None:
    tx_hash = "0x" + "cd" * 32
    assert links(ops, tx_hash) == []
    report(sweep, tx_hash)
    assert len(links(ops, tx_hash)) == 1


def test_an_operator_finds_what_the_role_may_see(sweep: Sweep) -> None:
    person = User.objects.create_user("partners only", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_partner"))
    browser = ConsoleClient()
    browser.force_login(person)
    assert links(browser, str(sweep.pk)) == []
    assert len(links(browser, sweep.partner.name)) == 1


@pytest.mark.parametrize("term", ["%", "'", "\x00", "x" * 10_000, "0x", "swp_test_", "-" * 20, "0" * 33, "١٢٣٤٥٦٧٨٩٠"])
def test_odd_terms_find_nothing(ops: ConsoleClient, term: str) -> None:
    PartnerFactory.create(name="Acme")
    assert links(ops, term) == []


@pytest.mark.parametrize("term", ["0x" + "ab" * 32, "0xabababab", "0x" + "12" * 20, "Order 1017", "01a22109-6070"])
def test_no_search_reads_sweeps_or_transactions_from_end_to_end(ops: ConsoleClient, sweep: Sweep, term: str) -> None:
    report(sweep, "0x" + "ab" * 32)
    with CaptureQueriesContext(connection) as captured:
        links(ops, term)
    asked = [query["sql"] for query in captured if "sweeps_sweep" in query["sql"] and query["sql"].startswith("SELECT")]
    assert asked
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for sql in asked:
            cursor.execute(f"EXPLAIN {sql}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
            assert "Seq Scan on sweeps_" not in plan, plan
            assert "Index Cond" in plan, plan
