"""Every code of the table is provoked by a request to the real API, and answered as it is documented."""

from collections.abc import Callable
from datetime import UTC, datetime
from threading import BoundedSemaphore
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone
from solders.pubkey import Pubkey

from dev.solana.swap_api.server import Response as SwapResponse
from ledger import exports
from ledger.proofs.signing import sign_months
from partners import idempotency, outside
from partners.models import ApiKey, Partner
from partners.webhooks.endpoints import MAX_ENDPOINTS
from sweepapi import networks
from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.api.input.budgets import MAX_BODY_BYTES
from sweepapi.errors import BadGateway, GatewayTimeout, RequestTimeout, SweepApiError
from sweepapi.evm.trial.attempts import ACCEPTS_SIGNATURES
from sweepapi.modes import Mode
from sweeps.models import Sweep
from sweeps.story import build
from sweeps.story.confirm import MAX_STORED_CANDIDATES
from tests.factories.partners import requester_of
from tests.factories.past import fee_at
from tests.factories.sweeps import LOCAL, SweepFactory, SweepTransactionFactory, V4SweepFactory
from tests.openapi import assert_documented
from tests.partner_app import BUILD, PartnerApp
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

UNKNOWN, HASH = "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071", "0x" + "ab" * 32
METHODS = {"get", "post"}

Fixture = Callable[[str], Any]
Provocation = Callable[[Fixture], Any]
PROVOCATIONS: dict[str, Provocation] = {}


def provokes(function: Provocation) -> Provocation:
    """Register the function, which returns the response, under the code that it is named after."""
    PROVOCATIONS[function.__name__] = function
    return function


def post(api: Client, path: str, body: object | None = None, **headers: str) -> Any:
    return api.post(path, {} if body is None else body, content_type="application/json", headers=headers or None)


def cancel(fixture: Fixture, sweep: Sweep, body: object | None = None, **headers: str) -> Any:
    return post(fixture("api"), f"/v2/sweep/status/{sweep.id}/cancel", body, **headers)


def refresh(app: PartnerApp, built: dict[str, Any]) -> Any:
    return post(app.api, f"/v2/sweep/build/{built['sweepId']}/refresh")


def finalize(fixture: Fixture, execution: str, signature: str, **build: Any) -> Any:
    app: PartnerApp = fixture("app")
    path = f"/v2/sweep/status/{app.build(**build)['sweepId']}/finalize"
    return post(app.api, path, {"execution": execution, "signatures": [signature]})


def closed(fixture: Fixture, status: str) -> Sweep:
    """Return a sweep of the partner that ended like this."""
    facts = {"status": status, "is_open": False, "closed_at": timezone.now(), "next_check_at": None}
    return SweepFactory.create(partner=fixture("partner"), **facts)


def solana_body(user: SolanaUser, **changes: Any) -> dict[str, Any]:
    return {
        "wallet": str(user.key),
        "tokens": [{"mint": str(user.hold()), "amount": str(5 * DOLLAR)}],
        "outputMint": str(user.cluster.usdc),
        "slippageBps": 100,
    } | changes


# --- the request ------------------------------------------------------------------------------------------------------


@provokes
def invalid_request(fixture: Fixture) -> Any:
    return fixture("api").get("/v2/sweep/history?limit=many")


@provokes
def forbidden_field(fixture: Fixture) -> Any:
    return post(fixture("api"), BUILD, {"partnerId": "me"})


@provokes
def unsupported_chain(fixture: Fixture) -> Any:
    return fixture("api").get("/v2/sweep/history?chain=atlantis")


@provokes
def missing_api_key(fixture: Fixture) -> Any:
    return fixture("anonymous").get("/v2/partner")


@provokes
def invalid_api_key(_fixture: Fixture) -> Any:
    return Client(headers={"x-api-key": "swp_live_me"}).get("/v2/partner")


@provokes
def ip_not_allowed(fixture: Fixture) -> Any:
    return limited_client(fixture, allowed_ips=["198.51.100.7"]).get("/v2/partner")


@provokes
def insufficient_scope(fixture: Fixture) -> Any:
    return limited_client(fixture, scopes=["confirm"]).get("/v2/sweep/history")


def limited_client(fixture: Fixture, **limits: Any) -> Client:
    _, plaintext = ApiKey.issue(partner=fixture("partner"), **{"name": "tests", "mode": Mode.TEST, **limits})
    return Client(headers={"x-api-key": plaintext})


@provokes
def live_key_refused(fixture: Fixture) -> Any:
    return limited_client(fixture, mode=Mode.LIVE).get("/v2/sandbox")


@provokes
def partner_suspended(fixture: Fixture) -> Any:
    api = fixture("api")
    Partner.objects.update(status="suspended")
    return api.get("/v2/partner")


@provokes
def not_found(fixture: Fixture) -> Any:
    return fixture("anonymous").get("/v2/nothing")


@provokes
def webhook_not_found(fixture: Fixture) -> Any:
    return fixture("api").get(f"/v2/webhooks/{UNKNOWN}")


@provokes
def too_many_webhooks(fixture: Fixture) -> Any:
    body = {"url": "https://partner.example/hooks"}
    return [post(fixture("api"), "/v2/webhooks", body) for _ in range(MAX_ENDPOINTS + 1)][-1]


@provokes
def sweep_not_found(fixture: Fixture) -> Any:
    return fixture("api").get(f"/v2/sweep/status/{UNKNOWN}")


@provokes
def method_not_allowed(fixture: Fixture) -> Any:
    return fixture("api").delete("/v2/partner")


@provokes
def not_acceptable(fixture: Fixture) -> Any:
    return fixture("api").get("/v2/partner", headers={"accept": "image/png"})


@provokes
def payload_too_large(fixture: Fixture) -> Any:
    return fixture("api").post(BUILD, b" " * (MAX_BODY_BYTES + 1), content_type="application/json")


@provokes
def unsupported_media_type(fixture: Fixture) -> Any:
    return fixture("api").post(BUILD, b"{}", content_type="text/plain")


@provokes
def idempotency_key_reused(fixture: Fixture) -> Any:
    sweep = SweepFactory.create(partner=fixture("partner"))
    assert cancel(fixture, sweep, **{"Idempotency-Key": "one"}).status_code == 200
    return cancel(fixture, sweep, {"onChain": True}, **{"Idempotency-Key": "one"})


@provokes
def idempotency_in_progress(fixture: Fixture) -> Any:
    sweep = SweepFactory.create(partner=fixture("partner"))
    path = f"/v2/sweep/status/{sweep.id}/cancel"
    idempotency.claim(partner_id=sweep.partner_id, mode=Mode.TEST, path=path, key="one", body={})
    return cancel(fixture, sweep, **{"Idempotency-Key": "one"})


@provokes
def rate_limited(fixture: Fixture) -> Any:
    fixture("settings").ONCHAIN_CANCELLATIONS_PER_DAY = 0
    return cancel(fixture, SweepFactory.create(partner=fixture("partner")), {"onChain": True})


# --- the state of a sweep ---------------------------------------------------------------------------------------------


@provokes
def sweep_already_confirmed(fixture: Fixture) -> Any:
    state, _ = fixture("app").complete()
    return fixture("app").post_confirm(state["sweepId"], HASH)


@provokes
def sweep_expired(fixture: Fixture) -> Any:
    return cancel(fixture, closed(fixture, "expired"))


@provokes
def sweep_failed(fixture: Fixture) -> Any:
    return cancel(fixture, closed(fixture, "failed"))


@provokes
def sweep_void(fixture: Fixture) -> Any:
    sweep = SweepFactory.create(partner=fixture("partner"))
    assert cancel(fixture, sweep).status_code == 200
    return fixture("app").post_confirm(str(sweep.id), HASH)


@provokes
def new_build_required(fixture: Fixture) -> Any:
    built, chain = fixture("app").build(), networks.current().chain(LOCAL)
    fixture("change_chain")(v5_contract=chain.v4_contract, v4_contract=chain.v5_contract)
    return refresh(fixture("app"), built)


@provokes
def receipt_not_ready(fixture: Fixture) -> Any:
    return fixture("api").get(f"/v2/sweep/status/{SweepFactory.create(partner=fixture('partner')).id}/receipt")


@provokes
def statement_not_found(fixture: Fixture) -> Any:
    return fixture("api").get("/v2/statements/2026-13")


@provokes
def statement_not_ready(fixture: Fixture) -> Any:
    return fixture("api").get("/v2/statements/2999-12")


@provokes
def entry_not_found(fixture: Fixture) -> Any:
    fee_at(datetime(2025, 1, 1, tzinfo=UTC), fixture("partner"), 1, network=LOCAL)
    sign_months()
    return fixture("api").get("/v2/statements/2025-01/proof?entry=1")


@provokes
def too_many_offers(fixture: Fixture) -> Any:
    fixture("monkeypatch").setattr(build, "MAX_OFFERS", 1)
    return refresh(fixture("app"), fixture("app").build())


@provokes
def too_many_candidates(fixture: Fixture) -> Any:
    sweep = SweepFactory.create(partner=fixture("partner"))
    SweepTransactionFactory.create_batch(MAX_STORED_CANDIDATES, sweep=sweep, status="displaced")
    return fixture("app").post_confirm(str(sweep.id), HASH)


@provokes
def sweep_not_voidable(fixture: Fixture) -> Any:
    return cancel(fixture, SweepTransactionFactory.create(sweep__partner=fixture("partner")).sweep)


@provokes
def sweep_not_cancellable(fixture: Fixture) -> Any:
    return cancel(fixture, V4SweepFactory.create(partner=fixture("partner")), {"onChain": True})


@provokes
def event_mismatch(fixture: Fixture) -> Any:
    app = fixture("app")
    payment = app.chain.send(app.user, {"to": app.chain.users[1].address, "data": "0x", "value": "1"})
    return app.post_confirm(app.build()["sweepId"], payment)


@provokes
def transaction_reverted(fixture: Fixture) -> Any:
    app = fixture("app")
    built = app.build()
    return app.post_confirm(built["sweepId"], app.chain.sign_and_send(app.user, built))  # without its approval


@provokes
def signature_invalid(fixture: Fixture) -> Any:
    return finalize(fixture, "permit2", "0x" + "11" * 65)


@provokes
def would_revert(fixture: Fixture) -> Any:
    app = fixture("app")
    app.chain.put_code(app.user.address, ACCEPTS_SIGNATURES.removeprefix("0x"))
    return finalize(fixture, "permit2", "0x11")  # without its approval


@provokes
def execution_not_offered(fixture: Fixture) -> Any:
    return finalize(fixture, "permits", "0x11", units={"LINK": 1})


# --- the market, the wallet, and what we depend on --------------------------------------------------------------------


@provokes
def tokens_refused(fixture: Fixture) -> Any:
    app = fixture("app")
    return app.post_build(app.body(tokens=[{"mint": app.chain.token("UNI").address, "amount": str(2**128)}]))


@provokes
def uneconomic(fixture: Fixture) -> Any:
    return fixture("app").post_build(fixture("app").body({"USDC": 0.5}))


@provokes
def insufficient_balance(fixture: Fixture) -> Any:
    user: SolanaUser = fixture("user")
    body = solana_body(user)
    without_sol = user.cluster.create_wallet(lamports=1_000_000).pubkey()
    (token,) = body["tokens"]
    user.cluster.faucet.give_tokens(without_sol, Pubkey.from_string(token["mint"]), 5 * DOLLAR)
    return post(fixture("api"), "/v1/sweep/build", body | {"wallet": str(without_sol)})


@provokes
def swap_unavailable(fixture: Fixture) -> Any:
    user: SolanaUser = fixture("user")
    user.market.api.replace = lambda: SwapResponse(429, b"{}", {"Retry-After": "17"})
    return post(fixture("api"), "/v1/sweep/build", solana_body(user))


@provokes
def chain_unavailable(fixture: Fixture) -> Any:
    body = fixture("app").body()
    fixture("no_providers")
    return fixture("app").post_build(body)


@provokes
def build_disabled(fixture: Fixture) -> Any:
    fixture("change_chain")(protocol_recipient=UNKNOWN_RECIPIENT)
    fixture("use_mode")("v4_fallback")
    return fixture("app").post_build(fixture("app").body())


@provokes
def internal_error(fixture: Fixture) -> Any:
    return with_failing_database(fixture, RuntimeError("a bug"))


@provokes
def service_unavailable(fixture: Fixture) -> Any:
    return with_failing_database(fixture, OperationalError("the connection is lost"))


@provokes
def request_timeout(fixture: Fixture) -> Any:
    return answered_in_front(fixture, RequestTimeout())


@provokes
def bad_gateway(fixture: Fixture) -> Any:
    return answered_in_front(fixture, BadGateway())


@provokes
def gateway_timeout(fixture: Fixture) -> Any:
    return answered_in_front(fixture, GatewayTimeout())


def answered_in_front(fixture: Fixture, error: SweepApiError) -> Any:
    """Answer as the proxy or the web worker does in front of the API; ``tests/config`` asks these themselves."""
    return with_failing_database(fixture, error)


@provokes
def too_many_at_once(fixture: Fixture) -> Any:
    fixture("monkeypatch").setattr(outside, "PATIENCE_SECONDS", 0)
    places = outside.places_of(1)
    fixture("monkeypatch").setattr(outside, "_places", lambda: places)
    with outside.outside_place(requester_of(fixture("partner"))):
        return fixture("app").post_build(fixture("app").body())


@provokes
def too_many_exports(fixture: Fixture) -> Any:
    fixture("monkeypatch").setattr(exports, "_places", BoundedSemaphore(0))
    return fixture("api").get("/v2/ledger/entries", headers={"Accept": "text/csv"})


def with_failing_database(fixture: Fixture, error: Exception) -> Any:
    def fail(*_arguments: Any) -> Any:
        raise error

    api = fixture("api")
    with connection.execute_wrapper(fail):
        return api.get("/v2/partner")


UNKNOWN_RECIPIENT = "0x" + "0d" * 20


@pytest.fixture
def anchors(anonymous: Client) -> str:
    """The page to which the failures point."""
    return anonymous.get("/docs/errors").content.decode()


def test_every_code_is_provoked() -> None:
    codes = {row.code for row in ERROR_TABLE.values()}
    assert PROVOCATIONS.keys() == codes
    assert {row.code for row in ERROR_TABLE.values() if not row.operations} == {"not_found"}


@pytest.mark.parametrize("code", PROVOCATIONS)
def test_it_is_answered_as_the_table_says(request: pytest.FixtureRequest, anchors: str, code: str) -> None:
    response = PROVOCATIONS[code](request.getfixturevalue)
    (row,) = (row for row in ERROR_TABLE.values() if row.code == code)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["retryable"]) == (row.status, code, row.retryable)
    assert error["docUrl"] == f"http://testserver/docs/errors#{code}"
    assert f'id="{code}"' in anchors
    route = response.wsgi_request.resolver_match
    if row.operations and response.wsgi_request.method.lower() in METHODS:
        assert_documented(response, path="/" + route.route.replace("<str:", "{").replace(">", "}"))
