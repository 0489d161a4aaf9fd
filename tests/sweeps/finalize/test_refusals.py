"""A refusal says whose signature it is, what was signed instead if that can be found out, and what to do."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from eth_account.messages import encode_defunct

from dev.chain.sender import calldata
from partners.models import ApiKey
from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.modes import Mode
from sweeps.models import Sweep
from tests.factories.partners import PartnerFactory
from tests.market_moves import crash_price
from tests.partner_app import PartnerApp, details_of, error_of, only_v5
from tests.sweeps.finalize.wallet_signatures import digest_of, finalize, post, problems, send, sign, signatures_of
from tests.wallets import executions_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


@pytest.fixture
def other_api() -> Client:
    """A client of another partner."""
    _, key = ApiKey.issue(partner=PartnerFactory.create(), name="other", mode=Mode.TEST)
    return Client(headers={"x-api-key": key})


def instead(app: PartnerApp, built: dict[str, Any], signatures: list[str], kind: str = "permit2", at: int = 0) -> str:
    """Return what the refusal says was signed instead."""
    found = problems(post(app, built, signatures, kind))
    assert (f"signatures[{at}]", "wrong_signer") in found
    assert app.user.address not in found[f"signatures[{at}]", "recovered_address"]
    return found[f"signatures[{at}]", "signed_instead"]


def test_the_signature_of_another_account_is_refused_with_its_address(app: PartnerApp) -> None:
    built = app.build()
    other = app.chain.users[1]
    found = problems(post(app, built, signatures_of(other, built)))
    assert found["signatures[0]", "recovered_address"] == other.address
    assert app.user.address in found["signatures[0]", "wrong_signer"]
    assert ("signatures[0]", "signed_instead") not in found


def test_the_signature_of_another_sweep_is_recognised(app: PartnerApp) -> None:
    first, second = app.build(), app.build({"USDC": 2, "LINK": 1})
    assert first["sweepId"] in instead(app, second, signatures_of(app.user, first))
    assert second["sweepId"] in instead(app, first, signatures_of(app.user, second))


def test_the_signature_of_a_sweep_of_another_partner_is_not_recognised(app: PartnerApp, other_api: Client) -> None:
    theirs = PartnerApp(other_api, app.chain).build()
    found = problems(post(app, app.build(), signatures_of(app.user, theirs)))
    assert ("signatures[0]", "signed_instead") not in found


@pytest.mark.parametrize("chain_id", [1, 8453])
def test_the_signature_for_another_chain_is_recognised(app: PartnerApp, chain_id: int) -> None:
    built = app.build()
    elsewhere = built["permit2"] | {"domain": built["permit2"]["domain"] | {"chainId": chain_id}}
    assert f"the chain {chain_id}" in instead(app, built, [sign(app.user, elsewhere).hex()])


@pytest.mark.parametrize("as_text", [False, True])
def test_the_digest_signed_as_a_message_is_recognised(app: PartnerApp, *, as_text: bool) -> None:
    built = app.build()
    digest = digest_of(built["permit2"])
    message = encode_defunct(text=f"0x{digest.hex()}") if as_text else encode_defunct(digest)
    assert "personal_sign" in instead(app, built, [app.user.sign_message(message).signature.to_0x_hex()])


def test_signatures_in_another_order_are_recognised(app: PartnerApp) -> None:
    built = app.build({"UNI": 4})
    signatures = signatures_of(app.user, built, "permits")
    assert "typedData[1]" in instead(app, built, signatures[::-1], "permits")


def test_a_wrong_permit_of_a_token_is_refused_before_the_chain_is_read(
    app: PartnerApp, round_trips: list[list[str]]
) -> None:
    built = app.build({"UNI": 4})
    _, permit2 = signatures_of(app.user, built, "permits")
    theirs, _ = signatures_of(app.chain.users[1], built, "permits")
    round_trips.clear()
    found = problems(post(app, built, [theirs, permit2], "permits"))
    assert found["signatures[0]", "recovered_address"] == app.chain.users[1].address
    assert round_trips == []


@pytest.mark.parametrize("length", [1, 63, 66, 130])
def test_a_key_signs_65_bytes_or_64(app: PartnerApp, length: int) -> None:
    found = problems(post(app, app.build(), ["0x" + "11" * length]))
    assert f"These are {length}" in found["signatures[0]", "not_a_key_signature"]


@pytest.mark.parametrize("v", [2, 26, 29, 37, 255])
def test_a_key_signs_with_one_of_two_parities(app: PartnerApp, v: int) -> None:
    built = app.build()
    signature = sign(app.user, built["permit2"])[:64] + bytes([v])
    assert ("signatures[0]", "not_a_key_signature") in problems(post(app, built, [signature.hex()]))


def test_without_its_approvals_the_transaction_would_revert(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "LINK": 1, "USDT": 2})
    app.chain.approve(app.user, app.chain.token("LINK"))
    response = post(app, built, signatures_of(app.user, built))
    assert error_of(response) == (422, "would_revert")
    assert response.json()["error"]["retryable"] is True
    assert details_of(response) == {("tokens[0].mint", "not_approved"), ("tokens[2].mint", "not_approved")}
    app.approve(built)
    assert send(app, built, finalize(app, built, signatures_of(app.user, built)))["status"] == "completed"


@pytest.mark.parametrize("kind", ["permits", "permit2"])
def test_tokens_that_are_gone_are_named(app: PartnerApp, kind: str) -> None:
    uni = app.chain.token("UNI")
    built = app.build({"UNI": 4})
    app.approve(built)
    held = app.chain.balance_of(app.user.address, uni.address)
    gone = calldata("transfer(address,uint256)", app.chain.users[1].address, held)
    app.chain.send(app.user, {"to": uni.address, "data": f"0x{gone.hex()}"})
    response = post(app, built, signatures_of(app.user, built, kind), kind)
    assert details_of(response) == {("tokens[0].mint", "insufficient_balance")}


def test_a_permit_whose_nonce_was_used_leaves_the_token_unapproved(app: PartnerApp) -> None:
    built = app.build({"UNI": 4})
    first = finalize(app, built, signatures_of(app.user, built, "permits"), "permits")
    other = app.build({"UNI": 3})
    send(app, built, first)
    response = post(app, other, signatures_of(app.user, other, "permits"), "permits")
    assert error_of(response) == (422, "would_revert")


def test_a_price_that_fell_is_a_reason_to_refresh(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "LINK": 1}, slippageBps=50)
    app.approve(built)
    crash_price(app, "LINK")
    response = post(app, built, signatures_of(app.user, built))
    assert error_of(response) == (422, "would_revert")
    assert details_of(response) == {("tokens[1].mint", "reverted")}


def test_an_execution_that_is_not_offered_is_refused(app: PartnerApp) -> None:
    built = app.build({"LINK": 1})
    assert "permits" not in executions_of(built)
    signatures = signatures_of(app.user, built)
    assert error_of(post(app, built, signatures * 2, "permits")) == (409, "execution_not_offered")


@pytest.mark.parametrize(("kind", "count"), [("permit2", 2), ("permits", 1)])
def test_there_is_one_signature_for_each_of_the_typed_data(app: PartnerApp, kind: str, count: int) -> None:
    built = app.build({"UNI": 4})
    response = post(app, built, signatures_of(app.user, built) * count, kind)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("signatures", "wrong_count")}


@only_v5
def test_an_offer_of_venues_that_are_gone_has_to_be_refreshed(
    app: PartnerApp, change_chain: Callable[..., Chain]
) -> None:
    built = app.build()
    venues = networks.current().chains["local"].venues
    signatures = signatures_of(app.user, built)
    change_chain(venues=tuple(replace(venue, id=venue.id + 100) for venue in venues))
    assert error_of(post(app, built, signatures)) == (409, "new_build_required")
    change_chain(venues=tuple(replace(venue, name=f"other {venue.name}") for venue in venues))
    assert error_of(post(app, built, signatures)) == (409, "new_build_required")


def test_a_sweep_that_is_decided_has_nothing_to_finalize(app: PartnerApp) -> None:
    done = app.build()
    app.confirm(done, app.execute(done))
    assert error_of(post(app, done, signatures_of(app.user, done))) == (409, "sweep_already_confirmed")
    void = app.build()
    app.api.post(f"/v2/sweep/status/{void['sweepId']}/cancel", {}, content_type="application/json")
    assert error_of(post(app, void, signatures_of(app.user, void))) == (409, "sweep_void")


def test_a_sweep_past_its_deadline_has_nothing_to_finalize(app: PartnerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    built = app.build()
    deadline = Sweep.objects.get(id=built["sweepId"]).deadline
    monkeypatch.setattr("sweeps.story.decided.timezone.now", lambda: deadline)
    assert error_of(post(app, built, signatures_of(app.user, built))) == (409, "sweep_expired")


def test_only_its_partner_can_finalize_a_sweep(app: PartnerApp, other_api: Client) -> None:
    built = app.build()
    response = post(PartnerApp(other_api, app.chain), built, signatures_of(app.user, built))
    assert error_of(response) == (404, "sweep_not_found")


R, S = "0x" + "11" * 32, "0x" + "22" * 32
BAD: list[Any] = [
    "",
    "0x1",
    "0xzz",
    "0x 11",
    " 0x11",
    "0x11\n",
    "\u0660x11",
    "0x" + "11" * 16_385,
    "1" * 40_000,
    None,
    1,
    True,
    ["0x11"],
    {},
    {"r": R, "s": S},
    {"r": R, "v": 27},
    {"r": R, "s": S, "v": 2},
    {"r": R, "s": S, "v": 37},
    {"r": R, "s": S, "v": True},
    {"r": R, "s": S, "v": "1b"},
    {"r": R, "s": S, "v": 27.0},
    {"r": R, "s": S, "v": 27, "yParity": 1},
    {"r": R, "s": S, "v": 27, "yParity": None},
    {"r": R, "s": S, "v": 27, "networkV": None},
    {"r": R, "s": S, "yParity": 27},
    {"r": R, "s": S, "yParity": 2},
    {"r": "0x", "s": S, "v": 27},
    {"r": "0x" + "11" * 33, "s": S, "v": 27},
    {"r": 17, "s": S, "v": 27},
]


@only_v5
@pytest.mark.parametrize("signature", BAD)
def test_anything_but_a_signature_is_refused_at_its_place(app: PartnerApp, signature: Any) -> None:
    sweep = {"sweepId": "019bb286-3ae0-7b00-811c-fdc880dd81d4"}
    response = post(app, sweep, ["0x11", signature])
    assert error_of(response) == (400, "invalid_request")
    assert {field for field, _ in details_of(response)} == {"signatures[1]"}


@only_v5
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "execution"),
        ({"execution": "calls", "signatures": ["0x11"]}, "execution"),
        ({"execution": "permit2", "signatures": []}, "signatures"),
        ({"execution": "permit2", "signatures": ["0x11"] * 32}, "signatures"),
        ({"execution": "permit2", "signatures": "0x11"}, "signatures"),
        ({"execution": "permit2", "signatures": ["0x11"], "signature": "0x11"}, "signature"),
    ],
)
def test_a_body_of_another_shape_is_refused(app: PartnerApp, body: dict[str, Any], field: str) -> None:
    path = "/v2/sweep/status/019bb286-3ae0-7b00-811c-fdc880dd81d4/finalize"
    response = app.api.post(path, body, content_type="application/json")
    assert error_of(response) == (400, "invalid_request")
    assert field in {named for named, _ in details_of(response)}
