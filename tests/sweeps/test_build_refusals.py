"""POST /v2/sweep/build: every refusal has its code and its field, and nothing is stored."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from eth_utils.address import to_checksum_address

from partners.models import ApiKey, Partner
from sweepapi.api.input.reading import FORBIDDEN_FIELDS
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.addresses import NATIVE_COIN, ZERO_ADDRESS
from sweepapi.rpc import ProviderPool
from tests.partner_app import BUILD, PartnerApp, details_of, error_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_is_stored")]

ARABIC_ONE = "\N{ARABIC-INDIC DIGIT ONE}"
Change = Callable[[PartnerApp, dict[str, Any]], object]


def token(name: str, value: object, at: int = 0) -> Change:
    return lambda _app, body: body["tokens"][at].update({name: value})


BAD_CHECKSUM = "0x5AaEb6053F3E94C9b9A09f33669435E7Ef1BeAed"


def whole(name: str, value: object) -> Change:
    return lambda _app, body: body.update({name: value})


def without(name: str) -> Change:
    return lambda _app, body: body.pop(name)


def many_tokens(count: int) -> Change:
    mints = [to_checksum_address(f"0x{number:040x}") for number in range(1, count + 1)]
    return whole("tokens", [{"mint": mint, "amount": "1"} for mint in mints])


def test_31_tokens_are_too_many_and_30_are_not(app: PartnerApp) -> None:
    body = app.body()
    many_tokens(31)(app, body)
    assert details_of(app.post_build(body)) == {("tokens", "too_long")}
    many_tokens(30)(app, body)
    assert details_of(app.post_build(body)) == {(f"tokens[{i}].mint", "not_a_token") for i in range(30)}


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        *[(without(name), (name, "required")) for name in ("chain", "wallet", "tokens", "outputMint", "slippageBps")],
        (lambda _app, body: body["tokens"][0].pop("mint"), ("tokens[0].mint", "required")),
        (lambda _app, body: body["tokens"][0].pop("amount"), ("tokens[0].amount", "required")),
        (whole("slipageBps", 100), ("slipageBps", "unknown_field")),
        (token("amout", "1"), ("tokens[0].amout", "unknown_field")),
        (whole("tokens", []), ("tokens", "too_short")),
        (whole("tokens", {}), ("tokens", "invalid_type")),
        (whole("tokens", ["USDC"]), ("tokens[0]", "invalid_type")),
        (whole("slippageBps", 0), ("slippageBps", "out_of_range")),
        (whole("slippageBps", 5001), ("slippageBps", "out_of_range")),
        (whole("slippageBps", "1"), ("slippageBps", "invalid_type")),
        (whole("slippageBps", 50.0), ("slippageBps", "invalid_type")),
        (whole("slippageBps", True), ("slippageBps", "invalid_type")),  # noqa: FBT003 the value under test
        (whole("slippageBps", None), ("slippageBps", "invalid_type")),
        (whole("wallet", ZERO_ADDRESS), ("wallet", "zero_address")),
        (whole("wallet", NATIVE_COIN), ("wallet", "native_coin")),
        (whole("wallet", "0x12"), ("wallet", "invalid_format")),
        (whole("wallet", 5), ("wallet", "invalid_type")),
        (whole("wallet", BAD_CHECKSUM), ("wallet", "bad_checksum")),
        (whole("outputMint", ZERO_ADDRESS), ("outputMint", "zero_address")),
        (whole("outputMint", BAD_CHECKSUM), ("outputMint", "bad_checksum")),
        (token("mint", ZERO_ADDRESS), ("tokens[0].mint", "zero_address")),
        (token("mint", NATIVE_COIN), ("tokens[0].mint", "native_coin")),
        (token("mint", BAD_CHECKSUM), ("tokens[0].mint", "bad_checksum")),
        (
            lambda _app, body: body["tokens"].append(body["tokens"][0] | {"mint": body["tokens"][0]["mint"].lower()}),
            ("tokens[1].mint", "duplicate"),
        ),
        (lambda _app, body: body.update(outputMint=body["tokens"][0]["mint"].lower()), ("tokens[0].mint", "is_output")),
        *[
            (token("amount", amount), ("tokens[0].amount", "invalid_format"))
            for amount in (
                "0",
                "-1",
                "+1",
                "1.0",
                "1e6",
                " 1",
                "1 ",
                "01",
                "0x10",
                "1_000",
                ARABIC_ONE,
                "",
                "9" * 79,
            )
        ],
        (token("amount", str(2**256)), ("tokens[0].amount", "out_of_range")),
        (token("amount", 1000), ("tokens[0].amount", "invalid_type")),
        (token("amount", 1.5), ("tokens[0].amount", "invalid_type")),
        (token("decimals", 18), ("tokens[0].decimals", "contradicts_chain")),
        (token("decimals", 256), ("tokens[0].decimals", "out_of_range")),
        (token("decimals", "6"), ("tokens[0].decimals", "invalid_type")),
        (lambda app, body: body["tokens"][0].update(mint=app.user.address), ("tokens[0].mint", "not_a_token")),
        (lambda app, body: body.update(outputMint=app.user.address), ("outputMint", "not_a_token")),
        (lambda app, body: body.update(outputMint=app.chain.contracts["v5"]), ("outputMint", "not_a_token")),
        (whole("onUnroutable", "ignore"), ("onUnroutable", "invalid_choice")),
        (whole("onLegFailure", "reject"), ("onLegFailure", "invalid_choice")),
        (whole("onLegFailure", ["skip"]), ("onLegFailure", "invalid_choice")),
        (whole("maxSkipped", 1), ("maxSkipped", "not_applicable")),
        (lambda _app, body: body.update(onLegFailure="revert", maxSkipped=0), ("maxSkipped", "not_applicable")),
        *[(whole("acceptPriceImpactBps", bps), ("acceptPriceImpactBps", "out_of_range")) for bps in (-1, 10_001)],
        *[(whole("acceptPriceImpactBps", bps), ("acceptPriceImpactBps", "invalid_type")) for bps in ("1", 1.0, True)],
        (whole("approvals", "infinite"), ("approvals", "invalid_choice")),
        (whole("approvals", None), ("approvals", "invalid_type")),
        *[
            (whole("clientReference", text), ("clientReference", "invalid_format"))
            for text in ("", "a\tb", "a\nb", "\x7f", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "\x00")
        ],
        (whole("clientReference", "x" * 65), ("clientReference", "too_long")),
        (whole("clientReference", 17), ("clientReference", "invalid_type")),
        (whole("execution", "supported"), ("execution", "invalid_type")),
        (whole("execution", {}), ("execution.wallet", "required")),
        (whole("execution", {"wallet": {"gas": "free"}}), ("execution.wallet.gas", "invalid_choice")),
        (whole("acceptUneconomic", "yes"), ("acceptUneconomic", "invalid_type")),
        (whole("execution", {"wallet": {"atomic": True}}), ("execution.wallet.atomic", "invalid_choice")),
        (
            whole("execution", {"wallet": {"atomic": "ready", "atomicRequired": True}}),
            ("execution.wallet.atomicRequired", "unknown_field"),
        ),
    ],
)
def test_a_bad_field_is_refused_by_its_path(app: PartnerApp, change: Change, detail: tuple[str, str]) -> None:
    body = app.body()
    change(app, body)
    response = app.post_build(body)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {detail}


def test_all_problems_of_a_body_are_reported_at_once(app: PartnerApp) -> None:
    body = app.body({"USDC": 1, "USDT": 1}) | {"slippageBps": 0, "wallet": "me"}
    body["tokens"][1]["amount"] = "0"
    assert details_of(app.post_build(body)) == {
        ("slippageBps", "out_of_range"),
        ("wallet", "invalid_format"),
        ("tokens[1].amount", "invalid_format"),
    }


def test_everything_the_chain_contradicts_is_reported_at_once(app: PartnerApp) -> None:
    body = app.body({"USDC": 1, "USDT": 1})
    body["tokens"][0]["decimals"] = 2
    body["tokens"][1]["mint"] = app.user.address
    assert details_of(app.post_build(body)) == {
        ("tokens[0].decimals", "contradicts_chain"),
        ("tokens[1].mint", "not_a_token"),
    }


@pytest.mark.parametrize("name", sorted(FORBIDDEN_FIELDS))
def test_identity_recipients_and_fees_are_never_taken_from_a_body(app: PartnerApp, name: str) -> None:
    body = app.body()
    body["tokens"][0][name] = "1"
    for forbidden in (app.body() | {name: "1"}, body):
        assert error_of(app.post_build(forbidden)) == (400, "forbidden_field")


def test_a_chain_that_is_unknown_or_not_enabled_is_unsupported(app: PartnerApp) -> None:
    for name in ("mars", "base", "Local", ""):
        code = "invalid_request" if name == "" else "unsupported_chain"
        assert error_of(app.post_build(app.body(chain=name))) == (400, code)


@pytest.mark.parametrize("missing", ["v5_contract", "protocol_recipient"])
def test_a_chain_whose_configuration_is_incomplete_is_unsupported(
    app: PartnerApp, change_chain: Callable[..., Chain], missing: str
) -> None:
    change_chain(**{missing: None})
    assert error_of(app.post_build(app.body())) == (400, "unsupported_chain")


@pytest.mark.parametrize(
    ("body", "content_type", "error"),
    [
        (b"{", "application/json", (400, "invalid_request")),
        (b'{"chain": "local", "chain": "local"}', "application/json", (400, "invalid_request")),
        (b"[" * 17 + b"]" * 17, "application/json", (400, "invalid_request")),
        (b"[]", "application/json", (400, "invalid_request")),
        (b"chain=local", "application/x-www-form-urlencoded", (415, "unsupported_media_type")),
        (b"{}", "text/plain", (415, "unsupported_media_type")),
        (json.dumps({"chain": "x" * 262_144}).encode(), "application/json", (413, "payload_too_large")),
    ],
)
def test_a_body_that_is_not_a_strict_json_object_is_refused(
    api: Client, body: bytes, content_type: str, error: tuple[int, str]
) -> None:
    assert error_of(api.post(BUILD, body, content_type=content_type)) == error


def test_other_methods_are_refused(api: Client) -> None:
    assert error_of(api.get(BUILD)) == (405, "method_not_allowed")


def test_a_build_without_a_key_is_refused(app: PartnerApp, anonymous: Client) -> None:
    assert error_of(PartnerApp(anonymous, app.chain).post_build(app.body())) == (401, "missing_api_key")


def test_a_build_with_a_bad_or_revoked_key_is_refused(app: PartnerApp, api_key: str) -> None:
    for key in ("swp_test_nonsense", api_key[:-1] + ("0" if api_key[-1] != "0" else "1")):
        stranger = PartnerApp(Client(headers={"x-api-key": key}), app.chain)
        assert error_of(stranger.post_build(app.body())) == (401, "invalid_api_key")
    ApiKey.objects.get().revoke()
    assert error_of(app.post_build(app.body())) == (401, "invalid_api_key")


def test_a_build_of_a_suspended_partner_is_refused(app: PartnerApp, partner: Partner) -> None:
    partner.status = Partner.Status.SUSPENDED
    partner.save()
    assert error_of(app.post_build(app.body())) == (403, "partner_suspended")


@pytest.mark.parametrize("wallet", [{}, {"wallet": to_checksum_address("0x" + "aa" * 20)}])  # the latter holds nothing
def test_a_token_with_a_transfer_fee_is_refused_if_no_router_swaps_what_arrives(
    app: PartnerApp, change_chain: Callable[..., Chain], wallet: dict[str, str]
) -> None:
    change_chain(routers=())
    response = app.post_build(app.body({"USDC": 1, "TFEE": 1}, **wallet))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[1].mint", "transfer_fee")}


def test_a_token_with_a_transfer_fee_is_refused_as_output(app: PartnerApp) -> None:
    response = app.post_build(app.body({"USDC": 1}, output="TFEE"))
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("outputMint", "transfer_fee")}


def test_an_amount_whose_minimum_output_rounds_to_zero_is_refused(app: PartnerApp) -> None:
    response = app.post_build(
        app.body({"USDC": 1, "DAI": 0.0155}, output="GUSD", slippageBps=5000, acceptUneconomic=True)
    )
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[1].mint", "output_too_small")}


def test_an_amount_whose_share_of_the_last_hop_rounds_to_zero_is_refused(app: PartnerApp) -> None:
    response = app.post_build(app.body({"USDC": 1, "DAI": 0.001}, output="GUSD", acceptUneconomic=True))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[1].mint", "output_too_small")}


def test_an_amount_too_small_for_every_pool_has_no_route(app: PartnerApp) -> None:
    response = app.post_build(app.body({"USDC": 1, "DAI": 1e-18}, output="GUSD"))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[1].mint", "no_route")}


def test_an_amount_too_large_for_every_pool_has_no_route(app: PartnerApp) -> None:
    body = app.body({"USDC": 1})
    body["tokens"][0]["amount"] = str(2**256 - 1)
    assert error_of(app.post_build(body)) == (422, "tokens_refused")


def test_a_chain_that_does_not_respond_is_503_with_a_time_to_retry(app: PartnerApp, no_providers: ProviderPool) -> None:
    assert no_providers.providers
    response = app.post_build(app.body())
    assert error_of(response) == (503, "chain_unavailable")
    assert response.headers["Retry-After"] == "5"
    assert response.json()["error"]["retryable"] is True
    assert b"secret" not in response.content
