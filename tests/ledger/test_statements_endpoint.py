"""GET /v2/statements/:month and its proofs: signed months, page by page, and what proves entries and earlier months."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ledger.models import Checkpoint, EntryNumber
from ledger.proofs import checkpoints, trees
from ledger.proofs.signing import sign_months
from ledger.statements.month import Month
from partners.models import ApiKey, Partner
from sweepapi.modes import Mode
from tests.examples.test_verify_statement import verifier
from tests.factories.ledger import BASE
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at, reversal_at
from tests.factories.sweeps import LOCAL
from tests.openapi import assert_documented
from tests.partner_app import details_of, error_of

pytestmark = pytest.mark.django_db

URL = "/v2/statements/{month}"
APRIL, MAY = Month(2026, 4), Month(2026, 5)


@pytest.fixture
def close(monkeypatch: pytest.MonkeyPatch) -> Callable[[Month], None]:
    """Lets a month end, and be signed."""

    def ended(month: Month) -> None:
        monkeypatch.setattr(checkpoints, "database_time", lambda: month.end + timedelta(minutes=6))
        sign_months()

    return ended


@pytest.fixture
def months(partner: Partner, close: Callable[[Month], None]) -> None:
    """Three entries in April, and four in May."""
    book(partner, APRIL.start, 3)
    book(partner, MAY.start, 4)
    close(MAY)


def book(partner: Partner, since: datetime, count: int, **facts: Any) -> None:
    for minutes in range(count):
        fee_at(since + timedelta(minutes=minutes), partner, 100, **({"network": LOCAL} | facts))


def get(api: Client, month: object, /, **query: str | int) -> dict[str, Any]:
    response = api.get(f"/v2/statements/{month}", query)
    assert response.status_code == 200, response.content
    assert_documented(response, path=URL)
    data: dict[str, Any] = response.json()["data"]
    return data


def prove(api: Client, month: object, /, **query: str | int) -> dict[str, Any]:
    response = api.get(f"/v2/statements/{month}/proof", query)
    assert response.status_code == 200, response.content
    assert_documented(response, path=f"{URL}/proof")
    data: dict[str, Any] = response.json()["data"]
    return data


def keys(api: Client) -> list[dict[str, str]]:
    found: list[dict[str, str]] = api.get("/.well-known/jwks.json").json()["keys"]
    return found


@pytest.mark.usefixtures("months")
@pytest.mark.parametrize("limit", [1, 3, 4, 200])
def test_the_pages_of_a_month_give_the_root_that_is_signed(api: Client, limit: int) -> None:
    for month, count in ((APRIL, 3), (MAY, 4)):
        pages = [get(api, month, limit=limit)]
        while (cursor := pages[-1]["nextCursor"]) is not None:
            pages.append(get(api, month, limit=limit, cursor=cursor))
        assert len(verifier.check_records(pages)) == count
        assert len(pages) == -(-count // limit)
        verifier.check_note(pages[0], keys(api))
        verifier.check_totals([record for page in pages for record in page["records"]], pages[0]["totals"])


def test_a_month_has_reversals_and_says_what_it_moved(
    api: Client, partner: Partner, close: Callable[[Month], None]
) -> None:
    fee = fee_at(APRIL.start, partner, 300, network=LOCAL)
    fee_at(APRIL.start, partner, 50, network=LOCAL)
    reversal_at(MAY.start, fee)
    close(MAY)
    (record,) = get(api, MAY)["records"]
    assert (record["kind"], record["reverses"], record["number"]) == ("reversal", str(fee.pk), 2)
    totals = {one["account"]: (one["debit"], one["credit"]) for one in get(api, MAY)["totals"]}
    assert totals == {"fees_charged": ("0", "600"), "partner_payable": ("300", "0"), "protocol_revenue": ("300", "0")}


def test_a_month_without_entries_has_a_statement_of_the_same_tree(
    api: Client, partner: Partner, close: Callable[[Month], None]
) -> None:
    book(partner, APRIL.start, 2)
    close(MAY)
    april, may = get(api, APRIL), get(api, MAY)
    assert (may["tree"], may["records"], may["totals"], may["nextCursor"]) == (april["tree"], [], [], None)
    assert verifier.check_records([may]) == []
    assert may["checkpoint"] != april["checkpoint"]


@pytest.mark.usefixtures("months")
def test_a_statement_is_the_same_each_time_whatever_is_booked_later(
    api: Client, partner: Partner, close: Callable[[Month], None]
) -> None:
    before = get(api, APRIL), get(api, MAY)
    book(partner, MAY.end, 9)
    assert (get(api, APRIL), get(api, MAY)) == before
    close(MAY.shifted(1))
    assert (get(api, APRIL), get(api, MAY)) == before


@pytest.mark.usefixtures("months")
def test_every_entry_is_proven_by_its_number_and_by_its_id(api: Client) -> None:
    for month, size in ((APRIL, 3), (MAY, 7)):
        statement = get(api, month)
        for number in EntryNumber.objects.filter(partner_number__lt=size):
            by_number = prove(api, month, entry=number.partner_number)
            assert prove(api, month, entry=str(number.entry_id)) == by_number
            assert verifier.check_proof(by_number, statement) == [f"Entry {number.entry_id} is in the tree."]
            assert by_number["consistency"] is None


@pytest.mark.usefixtures("months")
def test_every_earlier_tree_is_proven_to_be_continued(api: Client) -> None:
    statement = get(api, MAY)
    for size in range(8):
        shown = prove(api, MAY, **{"from": size})
        assert len(verifier.check_proof(shown, statement)) == 1
        assert (shown["consistency"]["size"], shown["inclusion"]) == (size, None)
    by_month = prove(api, MAY, **{"from": str(APRIL)})["consistency"]
    assert (by_month["size"], by_month["root"]) == (3, get(api, APRIL)["tree"]["root"])
    assert prove(api, MAY, **{"from": 3})["consistency"] == by_month
    both = prove(api, MAY, **{"from": 3, "entry": 0})
    assert len(verifier.check_proof(both, statement)) == 2


# --- months without a statement ---------------------------------------------------------------------------------------


NO_MONTHS = [
    *("2026-13", "2026-00", "2026-1", "1999-12", "3000-01", "2026-04-01", "april", "%00", "2026-04%0A"),
    "%EF%BC%92026-04",  # a digit of another script
]


@pytest.mark.parametrize("month", NO_MONTHS)
@pytest.mark.parametrize("suffix", ["", "/proof?entry=0"])
@pytest.mark.usefixtures("months")
def test_what_names_no_month_is_not_found(api: Client, month: str, suffix: str) -> None:
    assert error_of(api.get(f"/v2/statements/{month}{suffix}")) == (404, "statement_not_found")


@pytest.mark.usefixtures("months")
def test_a_month_before_the_first_entry_is_not_found_and_one_that_is_not_over_is_not_ready(api: Client) -> None:
    for suffix in ("", "/proof?entry=0"):
        assert error_of(api.get(f"/v2/statements/2026-03{suffix}")) == (404, "statement_not_found")
        for month in ("2026-06", "2999-12"):
            assert error_of(api.get(f"/v2/statements/{month}{suffix}")) == (409, "statement_not_ready")
    assert Checkpoint.objects.count() == 2


def test_a_month_that_is_over_and_not_yet_signed_is_not_ready(
    api: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    book(partner, APRIL.start, 1)
    monkeypatch.setattr(checkpoints, "database_time", lambda: APRIL.end + timedelta(minutes=5))
    assert error_of(api.get(f"/v2/statements/{APRIL}")) == (409, "statement_not_ready")


def unshared(response: Any) -> dict[str, Any]:
    """Return an error without what is of its request alone."""
    error: dict[str, Any] = response.json()["error"]
    assert error.pop("requestId")
    return error


@pytest.mark.parametrize("reach", ["of another partner", "of live keys"])
def test_what_the_key_does_not_reach_is_answered_as_what_does_not_exist(
    api: Client, partner: Partner, close: Callable[[Month], None], reach: str
) -> None:
    owner = PartnerFactory.create() if reach == "of another partner" else partner
    book(owner, APRIL.start, 2, network=LOCAL if owner != partner else BASE)
    book(partner, MAY.start, 1)
    close(MAY)
    theirs = EntryNumber.objects.filter(numbered_at__lt=MAY.start)[0].entry_id
    missing = unshared(api.get("/v2/statements/2026-02"))
    assert missing["code"] == "statement_not_found"
    assert unshared(api.get(f"/v2/statements/{APRIL}")) == missing
    unknown = unshared(api.get(f"/v2/statements/{MAY}/proof", {"entry": str(uuid4())}))
    assert unknown["code"] == "entry_not_found"
    assert unshared(api.get(f"/v2/statements/{MAY}/proof", {"entry": str(theirs)})) == unknown
    assert get(api, MAY)["tree"]["size"] == 1


def test_each_mode_has_a_tree_of_its_own(partner: Partner, close: Callable[[Month], None]) -> None:
    book(partner, APRIL.start, 2)
    book(partner, APRIL.start + timedelta(days=1), 3, network=BASE)
    close(APRIL)
    shown = []
    for mode in Mode:
        _, plaintext = ApiKey.issue(partner=partner, name="tests", mode=mode)
        shown.append(get(Client(headers={"x-api-key": plaintext}), APRIL))
    assert [one["tree"]["size"] for one in shown] == [3, 2]
    assert [one["checkpoint"].partition("\n")[0].split("/")[2] for one in shown] == ["live", "test"]


# --- hostile queries --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "details"),
    [
        ("entry=-1", {("entry", "invalid_format")}),
        ("entry=01", {("entry", "invalid_format")}),
        ("entry=1.0", {("entry", "invalid_format")}),
        ("entry=1_0", {("entry", "invalid_format")}),
        ("entry=%D9%A1", {("entry", "invalid_format")}),
        ("entry=1000000000000000000", {("entry", "invalid_format")}),
        ("entry=019BB286-3AE0-7B00-811C-FDC880DD81D4", {("entry", "invalid_format")}),
        ("entry=1%0A", {("entry", "invalid_format")}),
        ("from=2026-13", {("from", "invalid_format")}),
        ("from=-1", {("from", "invalid_format")}),
        ("from=8", {("from", "out_of_range")}),
        ("from=999999999999999999", {("from", "out_of_range")}),
        ("from=2026-06", {("from", "out_of_range")}),
        ("from=1&from=2", {("from", "duplicate_field")}),
        ("size=1", {("size", "unknown_field")}),
        ("entry=", {("entry", "invalid_format")}),
    ],
)
@pytest.mark.usefixtures("months")
def test_a_query_that_names_nothing_is_refused(api: Client, query: str, details: set[tuple[str, str]]) -> None:
    response = api.get(f"/v2/statements/{MAY}/proof?{query}")
    assert (error_of(response), details_of(response)) == ((400, "invalid_request"), details)


@pytest.mark.usefixtures("months")
def test_an_entry_behind_the_end_of_the_month_is_not_found(api: Client) -> None:
    for entry in (3, 7, 999_999_999_999_999_999, str(EntryNumber.objects.get(partner_number=3).entry_id)):
        assert error_of(api.get(f"/v2/statements/{APRIL}/proof", {"entry": entry})) == (404, "entry_not_found")
    assert error_of(api.get(f"/v2/statements/{APRIL}/proof?from=2026-03")) == (404, "statement_not_found")


@pytest.mark.usefixtures("months")
def test_a_cursor_is_of_one_month_alone(api: Client) -> None:
    cursor = get(api, MAY, limit=1)["nextCursor"]
    for month, text in ((APRIL, cursor), (MAY, "A" + cursor[1:]), (MAY, "x"), (MAY, "")):
        response = api.get(f"/v2/statements/{month}", {"cursor": text})
        assert error_of(response) == (400, "invalid_request")
        assert [field for field, _ in details_of(response)] == ["cursor"]


@pytest.mark.usefixtures("months")
def test_the_proof_of_nothing_is_the_checkpoint(api: Client) -> None:
    shown = prove(api, MAY)
    assert (shown["inclusion"], shown["consistency"], shown["checkpoint"]) == (None, None, get(api, MAY)["checkpoint"])


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_more_entries_take_no_more_queries(
    api: Client, partner: Partner, close: Callable[[Month], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With subtrees of 4 and of 16 entries stored, so that each size has all that is read."""
    monkeypatch.setattr(trees, "LEVELS", (2, 4))
    counts = []
    month = APRIL
    book(partner, month.shifted(-1).start, 23)
    for size in (23, 64):
        book(partner, month.start, size)
        close(month)
        api.get("/v2/partner")  # records the use of the key
        paths = ("?limit=20", "/proof?entry=5", "/proof?from=6", "/proof?from=2026-03")
        counts.append([queries(api, path) for path in paths])
        month = month.shifted(1)
    assert counts[0] == counts[1]


def queries(api: Client, path: str) -> int:
    month = Checkpoint.objects.order_by("month").last()
    assert month is not None
    with CaptureQueriesContext(connection) as captured:
        assert api.get(f"/v2/statements/{month.month}{path}").status_code == 200
    assert not any(query["sql"].startswith(("INSERT", "UPDATE")) for query in captured)
    return len(captured)
