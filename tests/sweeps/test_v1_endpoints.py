"""POST /v1/sweep/discover and /v1/sweep/build: what they take, what they answer, and whom they answer."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from solders.keypair import Keypair
from solders.pubkey import Pubkey

from dev.solana.swap_api import answers
from dev.solana.swap_api.server import Response as SwapResponse
from partners.models import ApiKey, Partner
from sweepapi.api.input.field_codes import FIELD_CODES
from sweepapi.api.input.reading import FORBIDDEN_FIELDS
from sweepapi.modes import Mode
from sweepapi.networks import Networks
from sweepapi.solana.encoding.addresses import TOKEN, associated_account
from sweeps.models import Sweep
from sweeps.rails.solana_v1 import obstacles
from tests.factories.partners import PartnerFactory
from tests.openapi import assert_documented
from tests.partner_app import details_of, error_of
from tests.solana_cluster import SolanaCluster
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shipped_cluster")]

DISCOVER, BUILD, STATUS = "/v1/sweep/discover", "/v1/sweep/build", "/v1/sweep/status/{sweep_id}"
Change = Callable[[dict[str, Any]], object]
WALLET = Keypair().pubkey()
MINT = str(Keypair.from_seed(bytes([9] * 32)).pubkey())
OUTPUT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
OFF_CURVE = str(associated_account(WALLET, Pubkey.from_string(OUTPUT), TOKEN))
EVM = "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF"


@pytest.fixture
def disconnected(change_networks: Callable[..., Networks]) -> Networks:
    """The shipped cluster is enabled, and no request to it may be needed."""
    return change_networks(rpc_urls={"solana": ["http://127.0.0.1:1"]})


def post(api: Client, url: str, body: object) -> Any:
    return api.post(url, body, content_type="application/json")


def valid_body() -> dict[str, Any]:
    return {
        "wallet": str(WALLET),
        "tokens": [{"mint": MINT, "amount": "1000"}],
        "outputMint": OUTPUT,
        "slippageBps": 100,
    }


def body_of(user: SolanaUser, *mints: Pubkey) -> dict[str, Any]:
    """Return the request that sells five dollars of each token into USDC."""
    tokens = [{"mint": str(mint), "amount": str(5 * DOLLAR)} for mint in mints]
    return valid_body() | {"wallet": str(user.key), "tokens": tokens, "outputMint": str(user.cluster.usdc)}


# --- The path of a sweep ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("nothing_is_stored")
def test_a_wallet_is_discovered_without_storing_anything(api: Client, user: SolanaUser) -> None:
    mint = user.hold()
    response = post(api, DISCOVER, {"wallet": str(user.key)})
    assert response.status_code == 200
    assert_documented(response, path=DISCOVER)
    data = response.json()["data"]
    assert (data["chain"], data["output"]["mint"]) == ("solana", str(user.cluster.usdc))
    assert [(token["mint"], token["routable"]) for token in data["tokens"]] == [(str(mint), True)]


@pytest.mark.parametrize("reference", [None, "order 1017"])
def test_the_partners_reference_is_shown_and_found(api: Client, user: SolanaUser, reference: str | None) -> None:
    body = body_of(user, user.hold()) | ({} if reference is None else {"clientReference": reference})
    built = post(api, BUILD, body).json()["data"]
    shown = api.get(STATUS.format(sweep_id=built["sweepId"])).json()["data"]
    assert built["clientReference"] == shown["clientReference"] == reference
    found = api.get("/v1/sweep/history", {"clientReference": "order 1017"}).json()["data"]["items"]
    assert [item["sweepId"] for item in found] == [built["sweepId"]] * (reference is not None)


def test_a_sweep_is_built_and_shown_and_needs_no_confirm(api: Client, user: SolanaUser) -> None:
    first, second = user.hold(), user.hold()
    response = post(api, BUILD, body_of(user, first, second))
    assert response.status_code == 201, response.content
    assert_documented(response, path=BUILD)
    built = response.json()["data"]
    shown = api.get(STATUS.format(sweep_id=built["sweepId"]))
    assert_documented(shown, path="/v1/sweep/status/{sweep_id}")
    state = shown.json()["data"]
    same = ("sweepId", "status", "chain", "network", "mode", "feeMode", "createdAt", "expiresAt")
    assert {name: state[name] for name in same} == {name: built[name] for name in same}
    assert 20 <= built["expiresInSeconds"] <= 80, "about as long as a blockhash is valid"
    assert state["expiresInSeconds"] is None
    assert [execution["id"] for execution in state["operations"]] == [
        transaction["referenceKey"] for transaction in built["transactions"]
    ]
    assert state["fees"]["expectedFees"]["totalFee"] == built["feeSummary"]["totalFee"]
    assert state["wallet"] == str(user.key)
    assert [item["sweepId"] for item in api.get("/v1/sweep/history").json()["data"]["items"]] == [built["sweepId"]]


@pytest.mark.parametrize(("chosen", "closed"), [({}, 1), ({"closeEmptyAccounts": False}, 0)])
def test_emptied_accounts_are_closed_unless_the_body_says_otherwise(
    api: Client, user: SolanaUser, chosen: dict[str, Any], closed: int
) -> None:
    built = post(api, BUILD, body_of(user, user.hold()) | chosen).json()["data"]
    assert len(built["closedAccounts"]) == closed


def test_a_chain_may_be_named(api: Client, user: SolanaUser) -> None:
    body = body_of(user, user.hold()) | {"chain": "solana"}
    assert post(api, BUILD, body).status_code == 201
    assert post(api, DISCOVER, {"wallet": str(user.key), "chain": "solana"}).status_code == 200


def test_a_sweep_belongs_to_the_partner_of_the_key(api: Client, user: SolanaUser, partner: Partner) -> None:
    built = post(api, BUILD, body_of(user, user.hold())).json()["data"]
    assert Sweep.objects.get(id=built["sweepId"]).partner == partner
    _, key = ApiKey.issue(partner=PartnerFactory.create(), name="stranger", mode=Mode.TEST)
    stranger = Client(headers={"x-api-key": key})
    assert error_of(stranger.get(STATUS.format(sweep_id=built["sweepId"]))) == (404, "sweep_not_found")
    assert stranger.get("/v1/sweep/history").json()["data"]["items"] == []
    assert error_of(api.get(f"/v2/sweep/status/{built['sweepId']}")) == (404, "sweep_not_found")


# --- Refusals ---------------------------------------------------------------------------------------------------------


def whole(name: str, value: object) -> Change:
    return lambda body: body.update({name: value})


def without(name: str) -> Change:
    return lambda body: body.pop(name)


def token(name: str, value: object) -> Change:
    return lambda body: body["tokens"][0].update({name: value})


def tokens(*mints: str) -> Change:
    return whole("tokens", [{"mint": mint, "amount": "1"} for mint in mints])


@pytest.mark.usefixtures("disconnected", "nothing_is_stored")
@pytest.mark.parametrize(
    ("change", "detail"),
    [
        *[(without(name), (name, "required")) for name in ("wallet", "tokens", "outputMint", "slippageBps")],
        (lambda body: body["tokens"][0].pop("mint"), ("tokens[0].mint", "required")),
        (lambda body: body["tokens"][0].pop("amount"), ("tokens[0].amount", "required")),
        (whole("slipageBps", 100), ("slipageBps", "unknown_field")),
        (token("amout", "1"), ("tokens[0].amout", "unknown_field")),
        (whole("onUnroutable", "ignore"), ("onUnroutable", "invalid_choice")),
        (whole("acceptUneconomic", "yes"), ("acceptUneconomic", "invalid_type")),
        (tokens(*(str(Keypair().pubkey()) for _ in range(31))), ("tokens", "too_long")),
        (tokens(MINT, MINT), ("tokens[1].mint", "duplicate")),
        (tokens(OUTPUT), ("tokens[0].mint", "is_output")),
        (whole("wallet", EVM), ("wallet", "invalid_format")),
        (whole("wallet", OFF_CURVE), ("wallet", "off_curve")),
        (whole("wallet", 5), ("wallet", "invalid_type")),
        *[
            (whole("outputMint", text), ("outputMint", "invalid_format"))
            for text in ("", "0", OUTPUT[:20], f"{OUTPUT} ", f" {OUTPUT}", OUTPUT.replace("E", "0"), "l" * 44, "é" * 44)
        ],
        (token("mint", f"{MINT}1"), ("tokens[0].mint", "invalid_format")),
        (token("mint", "1" * 31), ("tokens[0].mint", "invalid_format")),
        *[(token("amount", amount), ("tokens[0].amount", "invalid_format")) for amount in ("0", "-1", "1.0", "", "01")],
        (token("amount", str(2**64)), ("tokens[0].amount", "out_of_range")),
        (token("amount", str(2**256)), ("tokens[0].amount", "out_of_range")),
        (token("amount", 1000), ("tokens[0].amount", "invalid_type")),
        (token("decimals", 256), ("tokens[0].decimals", "out_of_range")),
        (whole("slippageBps", 0), ("slippageBps", "out_of_range")),
        (whole("slippageBps", 50.0), ("slippageBps", "invalid_type")),
        *[
            (whole("closeEmptyAccounts", value), ("closeEmptyAccounts", "invalid_type"))
            for value in ("true", 1, 0, None, [True])
        ],
    ],
)
def test_a_bad_field_of_a_build_is_refused_by_its_path(api: Client, change: Change, detail: tuple[str, str]) -> None:
    body = valid_body()
    change(body)
    response = post(api, BUILD, body)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {detail}
    assert_documented(response, path=BUILD)


@pytest.mark.usefixtures("disconnected")
@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, ("wallet", "required")),
        ({"wallet": OFF_CURVE}, ("wallet", "off_curve")),
        ({"wallet": EVM}, ("wallet", "invalid_format")),
        ({"wallet": str(WALLET), "outputMint": "USDC"}, ("outputMint", "invalid_format")),
        ({"wallet": str(WALLET), "outputMint": MINT}, ("outputMint", "unsupported")),
        ({"wallet": str(WALLET), "tokens": []}, ("tokens", "unknown_field")),
        ({"wallet": str(WALLET), "output_mint": OUTPUT}, ("output_mint", "unknown_field")),
        ({"wallet": str(WALLET), "network": "solana"}, ("network", "unknown_field")),
        ({"wallet": str(WALLET), "candidates": [MINT, EVM]}, ("candidates[1]", "invalid_format")),
        ({"wallet": str(WALLET), "cursor": "AAAA"}, ("cursor", "invalid_format")),
    ],
)
def test_a_bad_field_of_a_discovery_is_refused_by_its_path(
    api: Client, body: dict[str, Any], detail: tuple[str, str]
) -> None:
    response = post(api, DISCOVER, body)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {detail}
    assert_documented(response, path=DISCOVER)


@pytest.mark.usefixtures("disconnected", "nothing_is_stored")
@pytest.mark.parametrize("name", sorted(FORBIDDEN_FIELDS))
def test_identity_recipients_and_fees_are_never_taken_from_a_body(api: Client, name: str) -> None:
    deep = valid_body()
    deep["tokens"][0]["route"] = [{name: 1}]
    for url, body in ((BUILD, deep), (BUILD, valid_body() | {name: 1}), (DISCOVER, {"wallet": str(WALLET), name: 1})):
        response = post(api, url, body)
        assert error_of(response) == (400, "forbidden_field")
        assert {field.rpartition(".")[2] for field, _ in details_of(response)} == {name}


@pytest.mark.usefixtures("disconnected")
@pytest.mark.parametrize("chain", ["atlantis", "local", "base"])
def test_only_clusters_are_served(api: Client, chain: str) -> None:
    for url, body in ((BUILD, valid_body()), (DISCOVER, {"wallet": str(WALLET)})):
        response = post(api, url, body | {"chain": chain})
        assert error_of(response) == (400, "unsupported_chain")
        assert response.json()["error"]["details"][0]["message"] == "GET /v1/status lists the chains."
        assert_documented(response, path=url)


@pytest.mark.usefixtures("disconnected")
def test_a_cluster_is_not_served_by_v2(api: Client) -> None:
    response = post(api, "/v2/sweep/build", valid_body() | {"chain": "solana", "wallet": EVM})
    assert error_of(response) == (400, "unsupported_chain")


def test_without_an_enabled_cluster_no_chain_is_supported(
    api: Client, change_networks: Callable[..., Networks]
) -> None:
    change_networks(rpc_urls={})
    assert error_of(post(api, BUILD, valid_body())) == (400, "unsupported_chain")
    assert error_of(post(api, DISCOVER, {"wallet": str(WALLET)})) == (400, "unsupported_chain")


@pytest.mark.usefixtures("disconnected")
def test_a_cluster_without_an_answer_is_unavailable(api: Client) -> None:
    response = post(api, DISCOVER, {"wallet": str(WALLET)})
    assert error_of(response) == (503, "chain_unavailable")
    assert response.headers["Retry-After"]
    assert_documented(response, path=DISCOVER)


@pytest.mark.usefixtures("nothing_is_stored")
def test_a_swap_api_that_limits_the_rate_makes_builds_retryable(api: Client, user: SolanaUser) -> None:
    user.market.api.replace = lambda: SwapResponse(429, b"{}", {"Retry-After": "17"})
    response = post(api, BUILD, body_of(user, user.hold()))
    assert error_of(response) == (503, "swap_unavailable")
    assert response.json()["error"]["retryable"] is True
    assert response.headers["Retry-After"] == "17"
    assert_documented(response, path=BUILD)


def test_a_wallet_without_sol_is_named(api: Client, user: SolanaUser, cluster: SolanaCluster) -> None:
    poor = cluster.create_wallet(lamports=1_000_000).pubkey()
    mint = user.hold()
    cluster.faucet.give_tokens(poor, mint, 5 * DOLLAR)
    response = post(api, BUILD, body_of(user, mint) | {"wallet": str(poor)})
    assert error_of(response) == (422, "insufficient_balance")
    assert details_of(response) == {("wallet", "insufficient_balance")}
    assert_documented(response, path=BUILD)


def test_a_token_that_can_not_be_sold_is_named_with_its_reason(api: Client, user: SolanaUser) -> None:
    mint = user.hold()
    del user.market.prices[mint]
    response = post(api, BUILD, body_of(user, mint))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[0].mint", "no_route")}
    assert_documented(response, path=BUILD)


def test_a_token_is_not_sold_far_below_its_price_unless_that_is_accepted(
    api: Client, user: SolanaUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    mint = user.hold()
    monkeypatch.setattr(answers, "PRICE_IMPACT", "0.98")
    response = post(api, BUILD, body_of(user, mint))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[0].mint", "price_impact_too_high")}
    assert_documented(response, path=BUILD)
    found = post(api, DISCOVER, {"wallet": str(user.key)}).json()["data"]["tokens"]
    assert {token["mint"]: token["reason"] for token in found}[str(mint)] == "price_impact_too_high"
    accepted = post(api, BUILD, body_of(user, mint) | {"acceptPriceImpactBps": 9_800})
    assert accepted.status_code == 201, accepted.content
    (warning, _) = accepted.json()["data"]["warnings"]
    assert (warning["code"], warning["token"]) == ("price_impact_high", str(mint))
    assert warning["message"] == "The price impact is 9800 basis points."


def test_every_reason_of_a_refused_token_is_a_documented_code() -> None:
    codes = {one.code for one in vars(obstacles).values() if isinstance(one, obstacles.Obstacle)}
    only_discovered = {"collectible", "not_simulated"}
    assert codes > only_discovered
    assert codes - only_discovered - FIELD_CODES.keys() == set()


@pytest.mark.parametrize("url", [DISCOVER, BUILD])
def test_a_key_is_required_and_only_post_is_allowed(api: Client, anonymous: Client, url: str) -> None:
    assert error_of(post(anonymous, url, valid_body())) == (401, "missing_api_key")
    assert error_of(api.get(url)) == (405, "method_not_allowed")


def test_tokens_are_left_out_and_a_loss_accepted_as_the_request_says(api: Client, user: SolanaUser) -> None:
    good, gone = user.hold(), user.hold()
    del user.market.prices[gone]
    tokens = [{"mint": str(gone), "amount": str(DOLLAR)}, {"mint": str(good), "amount": "700"}]
    body = body_of(user, good) | {"tokens": tokens}
    refused = post(api, BUILD, body)
    assert (error_of(refused), details_of(refused)) == (
        (422, "tokens_refused"),
        {("tokens[0].mint", "no_route"), ("tokens[1].mint", "uneconomic")},
    )
    skipping = post(api, BUILD, body | {"onUnroutable": "skip"})
    assert (error_of(skipping), details_of(skipping)) == (
        (422, "uneconomic"),
        {("transactions", "uneconomic")},
    )
    built = post(api, BUILD, body | {"onUnroutable": "skip", "acceptUneconomic": True})
    assert [token["reason"] for token in built.json()["data"]["skippedTokens"]] == ["no_route"]
    for response in (refused, skipping, built):
        assert_documented(response, path=BUILD)
