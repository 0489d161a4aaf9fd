"""POST /v2/sweep/build: a token is refused if a pool of its route, or the wallet that holds it, can't transfer it."""

from collections.abc import Callable

import pytest
from eth_utils.address import to_checksum_address

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.pools.venues import pool_address
from tests.factories.sweeps import LOCAL
from tests.hostile_tokens import Treatment, put_contract, put_thief, treat
from tests.partner_app import PartnerApp, details_of, error_of

pytestmark = pytest.mark.django_db

STRANGER = to_checksum_address("0x" + "aa" * 20)  # holds nothing


HONEST, TAXED, REFUSED = Treatment


@pytest.fixture
def honeypot(app: PartnerApp) -> str:
    """UNI with its balances and pools, and with code that can treat accounts differently."""
    return put_contract(app, "HoneypotToken")


@pytest.fixture
def only_pools(change_chain: Callable[..., Chain]) -> None:
    """The service knows no router, so what pools can't carry has no way."""
    change_chain(routers=())


def pools(app: PartnerApp) -> dict[str, str]:
    """Return UNI's pools with the wrapped coin by the name of their venue."""
    v3, v2 = networks.current().chain(LOCAL).venues
    pair = (app.chain.token("UNI").address, app.chain.token("WETH").address)
    return {v3.name: pool_address(v3, *pair, 10_000), v2.name: pool_address(v2, *pair, 0)}


def wallet_of(app: PartnerApp, *, holds: bool) -> str:
    return app.user.address if holds else STRANGER


@pytest.mark.usefixtures("honeypot")
@pytest.mark.parametrize("holds", [True, False])
def test_a_token_that_treats_all_accounts_alike_is_built(app: PartnerApp, *, holds: bool) -> None:
    app.build({"UNI": 1}, wallet=wallet_of(app, holds=holds))


@pytest.mark.usefixtures("honeypot", "only_pools")
@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(
    ("treatment", "code"),
    [
        ({"as_receiver": REFUSED}, "transfer_refused"),
        ({"as_sender": REFUSED}, "transfer_refused"),
        ({"as_receiver": TAXED}, "transfer_fee"),
        ({"as_sender": TAXED}, "transfer_fee"),
    ],
)
def test_a_token_that_its_pool_cannot_receive_or_send_in_full_is_refused_to_every_wallet(
    app: PartnerApp, treatment: dict[str, Treatment], code: str, *, holds: bool
) -> None:
    for pool in pools(app).values():
        treat(app, pool, **treatment)
    response = app.post_build(app.body({"UNI": 1}, wallet=wallet_of(app, holds=holds)))
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[0].mint", code)}


@pytest.mark.usefixtures("honeypot", "only_pools")
@pytest.mark.parametrize(("treatment", "code"), [(REFUSED, "transfer_refused"), (TAXED, "transfer_fee")])
def test_a_token_that_its_holder_cannot_send_in_full_is_refused_only_to_this_holder(
    app: PartnerApp, treatment: Treatment, code: str
) -> None:
    treat(app, app.user.address, as_sender=treatment)
    assert details_of(app.post_build(app.body({"UNI": 1}))) == {("tokens[0].mint", code)}
    app.build({"UNI": 1}, wallet=app.chain.users[1].address)
    app.build({"UNI": 1}, wallet=STRANGER)


@pytest.mark.usefixtures("honeypot")
@pytest.mark.parametrize("at", ["holder", "pool"])
def test_a_token_that_arrives_short_is_swapped_by_a_router(app: PartnerApp, at: str) -> None:
    for account in [app.user.address] if at == "holder" else pools(app).values():
        treat(app, account, as_sender=TAXED, as_receiver=TAXED)
    built = app.build({"UNI": 1, "USDC": 1})
    assert [token["route"]["kind"] for token in built["tokens"]] == ["router", "pool"]
    assert "router_swap" in [warning["code"] for warning in built["warnings"]]
    tx_hash = app.execute(built)
    assert app.confirm(built, tx_hash)["status"] == "completed"


@pytest.mark.usefixtures("honeypot")
@pytest.mark.parametrize("venue", ["uniswap_v2", "uniswap_v3"])
def test_an_output_token_is_refused_only_if_the_pool_that_pays_it_cannot_receive_it(
    app: PartnerApp, venue: str
) -> None:
    taken = app.build({"GUSD": 1.0, "WETH": 1.0}, output="UNI")["lastHop"]["venue"]
    treat(app, pools(app)[venue], as_receiver=REFUSED)
    response = app.post_build(app.body({"GUSD": 1.0, "WETH": 1.0}, output="UNI"))
    if venue != taken:
        assert response.status_code == 201
    else:
        assert error_of(response) == (400, "invalid_request")
        assert details_of(response) == {("outputMint", "transfer_refused")}


@pytest.mark.usefixtures("honeypot")
def test_a_pool_outside_the_chosen_route_may_refuse_transfers(app: PartnerApp) -> None:
    (token,) = app.build({"UNI": 1})["tokens"]
    (other,) = pools(app).keys() - {token["route"]["venue"]}
    treat(app, pools(app)[other], as_sender=REFUSED, as_receiver=REFUSED)
    app.build({"UNI": 1})


@pytest.mark.parametrize("when_approved", [True, False])
def test_a_token_whose_sale_takes_others_is_refused_or_left_out(
    app: PartnerApp, each_mode: str, *, when_approved: bool
) -> None:
    assert each_mode
    thief = put_thief(app, app.chain.token("DAI").address, when_approved=when_approved)
    body = app.body({"USDC": 3, "UNI": 1})
    refused = app.post_build(body)
    assert error_of(refused) == (422, "tokens_refused")
    assert details_of(refused) == {("tokens[1].mint", "takes_other_tokens")}
    built = app.post_build(body | {"onUnroutable": "skip"}).json()["data"]
    assert [(one["mint"], one["reason"]) for one in built["skippedTokens"]] == [(thief, "takes_other_tokens")]
    alone = app.post_build(app.body({"UNI": 1}))
    assert details_of(alone) == {("tokens[0].mint", "takes_other_tokens")}
