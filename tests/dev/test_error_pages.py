"""Each error's page is true: its first request provokes the error, and what it says to do is answered without one."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from solders.pubkey import Pubkey

from ledger.proofs.signing import sign_months
from partners.models import ApiKey, Partner
from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.openapi import site
from sweepapi.modes import Mode
from tests.dev.snippets import blocks_of, documents_in, run
from tests.factories.past import fee_at
from tests.factories.sweeps import LOCAL, SweepFactory, SweepTransactionFactory, V4SweepFactory
from tests.partner_app import PartnerApp
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db(transaction=True)

PROVOKES = "a-request-that-provokes-it"  # the heading's anchor
# What depends on how busy or broken the service is, or on a thousand requests, is provoked in tests of the API.
NOT_BY_A_REQUEST = {
    *("internal_error", "bad_gateway", "gateway_timeout", "service_unavailable", "request_timeout", "rate_limited"),
    *("too_many_exports", "too_many_at_once", "chain_unavailable", "swap_unavailable", "build_disabled"),
    *("idempotency_in_progress", "new_build_required", "too_many_offers", "too_many_candidates", "would_revert"),
    "uneconomic",  # which amount is too little depends on the gas price
}
WITHOUT_AN_END = {"partner_suspended"}  # nothing that a partner does ends it

Fixture = Callable[[str], Any]
Variables = dict[str, str]
SITUATIONS: dict[str, Callable[[Fixture], Variables]] = {}


def situation(*codes: str) -> Callable[[Callable[[Fixture], Variables]], Callable[[Fixture], Variables]]:
    """Register what brings about what a page takes for granted, and returns its variables."""

    def register(function: Callable[[Fixture], Variables]) -> Callable[[Fixture], Variables]:
        SITUATIONS.update(dict.fromkeys(codes, function))
        return function

    return register


def key_with(fixture: Fixture, **limits: Any) -> str:
    _, plaintext = ApiKey.issue(partner=fixture("partner"), **{"name": "another", "mode": Mode.TEST, **limits})
    return plaintext


def sandbox_tokens(fixture: Fixture) -> Variables:
    tokens: Variables = fixture("sandbox_tokens")
    return tokens


@situation("ip_not_allowed")
def bound_key(fixture: Fixture) -> Variables:
    return {"BOUND_KEY": key_with(fixture, allowed_ips=["198.51.100.7"])}


@situation("insufficient_scope")
def confirm_key(fixture: Fixture) -> Variables:
    return {"CONFIRM_KEY": key_with(fixture, scopes=["confirm"])}


@situation("live_key_refused")
def live_key(fixture: Fixture) -> Variables:
    return {"LIVE_KEY": key_with(fixture, mode=Mode.LIVE)}


@situation("partner_suspended")
def suspended(_fixture: Fixture) -> Variables:
    Partner.objects.update(status="suspended")
    return {}


@situation("statement_not_found", "entry_not_found")
def month(fixture: Fixture) -> Variables:
    fee_at(datetime(2025, 1, 1, tzinfo=UTC), fixture("partner"), 1, network=LOCAL)
    sign_months()
    return {"MONTH": "2025-01"}


def closed(status: str) -> Callable[[Fixture], Variables]:
    def prepare(fixture: Fixture) -> Variables:
        facts = {"status": status, "is_open": False, "closed_at": timezone.now(), "next_check_at": None}
        return {
            "SWEEP_ID": str(SweepFactory.create(partner=fixture("partner"), **facts).id),
            **fixture("sandbox_tokens"),
        }

    return prepare


situation("sweep_expired")(closed("expired"))
situation("sweep_failed")(closed("failed"))


@situation("sweep_void")
def withdrawn(fixture: Fixture) -> Variables:
    offered = fixture("app").build()
    path = f"/v2/sweep/status/{offered['sweepId']}/cancel"
    assert fixture("api").post(path, {}, content_type="application/json").status_code == 200
    return {"SWEEP_ID": offered["sweepId"], **fixture("sandbox_tokens")}


@situation("sweep_already_confirmed")
def executed(fixture: Fixture) -> Variables:
    state, _ = fixture("app").complete()
    return {"SWEEP_ID": state["sweepId"]}


@situation("sweep_not_voidable")
def reported(fixture: Fixture) -> Variables:
    return {"SWEEP_ID": str(SweepTransactionFactory.create(sweep__partner=fixture("partner")).sweep_id)}


@situation("sweep_not_cancellable")
def on_v4(fixture: Fixture) -> Variables:
    return {"SWEEP_ID": str(V4SweepFactory.create(partner=fixture("partner")).id)}


@situation("receipt_not_ready", "idempotency_key_reused", "signature_invalid", "too_many_candidates", "would_revert")
def built(fixture: Fixture) -> Variables:
    return {"SWEEP_ID": fixture("app").build()["sweepId"]}


@situation("execution_not_offered")
def built_of_a_token_without_permits(fixture: Fixture) -> Variables:
    return {"SWEEP_ID": fixture("app").build({"LINK": 1})["sweepId"]}


@situation("event_mismatch")
def built_and_paid_something_else(fixture: Fixture) -> Variables:
    app: PartnerApp = fixture("app")
    payment = app.chain.send(app.user, {"to": app.chain.users[1].address, "data": "0x", "value": "1"})
    return {"SWEEP_ID": app.build()["sweepId"], "TX_HASH": payment}


@situation("transaction_reverted")
def sent_without_its_approval(fixture: Fixture) -> Variables:
    app: PartnerApp = fixture("app")
    offered = app.build()
    return {"SWEEP_ID": offered["sweepId"], "TX_HASH": app.chain.sign_and_send(app.user, offered)}


@situation("insufficient_balance", "swap_unavailable")
def on_solana(fixture: Fixture) -> Variables:
    user: SolanaUser = fixture("user")
    token = str(user.hold())
    poor = user.cluster.create_wallet(lamports=1_000_000).pubkey()
    user.cluster.faucet.give_tokens(poor, Pubkey.from_string(token), 5 * DOLLAR)
    return {
        "SOLANA_WALLET": str(user.key),
        "SOLANA_TOKEN": token,
        "SOLANA_OUTPUT": str(user.cluster.usdc),
        "EMPTY_WALLET": str(poor),
    }


def test_each_code_has_a_page(site_pages: Path) -> None:
    assert {page.parent.name for page in site_pages.glob("errors/*/index.html")} == {
        row.code for row in ERROR_TABLE.values()
    }


@pytest.mark.parametrize("code", [row.code for row in ERROR_TABLE.values()])
def test_its_request_is_refused_with_it_and_what_to_do_is_not(
    request: pytest.FixtureRequest, site_pages: Path, snippets: dict[str, str], tmp_path: Path, code: str
) -> None:
    page = (site_pages / "errors" / code / "index.html").read_text()
    situated = SITUATIONS.get(code, sandbox_tokens)(request.getfixturevalue)
    variables = snippets | situated | {"KEY": str(uuid4())}
    *provoking, fixing = blocks_of(page)
    assert bool(provoking) == (code not in NOT_BY_A_REQUEST) == (f'id="{PROVOKES}"' in page)
    for number, block in enumerate(provoking):
        refusal = documents_in(run([block], tmp_path / f"provoking-{number}", variables))[-1]
        assert refusal["error"]["code"] == code, refusal
    if code not in WITHOUT_AN_END:
        printed = run([fixing], tmp_path / "fixing", variables)
        answers = [] if "text/csv" in fixing.content else documents_in(printed)
        assert all(answer["ok"] for answer in answers), printed


def test_the_list_of_errors_links_the_pages_that_are_built(
    anonymous: Client, site_pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, links in ((tmp_path, 0), (site_pages, len(ERROR_TABLE))):
        monkeypatch.setattr(site, "FOLDER", folder)
        assert anonymous.get("/docs/errors").content.decode().count('href="/docs/errors/') == links
