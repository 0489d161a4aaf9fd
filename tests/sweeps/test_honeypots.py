"""POST /v2/sweep/build: a token is refused if a pool of its route, or the wallet that holds it, can't transfer it."""

import json
from collections.abc import Callable
from enum import IntEnum

import pytest
from eth_utils.address import to_checksum_address

from dev.chain.artifacts import CONTRACTS
from sweepapi.evm.abi import Function
from sweepapi.evm.chains import Chain
from tests.partner_app import PartnerApp, details_of, error_of

pytestmark = pytest.mark.django_db

GET_PAIR = Function("getPair(address,address)", "(address)")
GET_POOL = Function("getPool(address,address,uint24)", "(address)")
TREAT = Function("treat(address,uint8,uint8)")
STRANGER = to_checksum_address("0x" + "aa" * 20)  # holds nothing


class Treatment(IntEnum):
    """As in HoneypotToken.sol."""

    HONEST = 0
    TAXED = 1
    REFUSED = 2


HONEST, TAXED, REFUSED = Treatment


@pytest.fixture
def honeypot(app: PartnerApp, change_chain: Callable[..., Chain]) -> str:
    """UNI with its balances and pools, no longer vetted, and with code that can treat accounts differently."""
    change_chain(vetted_tokens=frozenset())
    compiled = json.loads((CONTRACTS / "out/HoneypotToken.sol/HoneypotToken.json").read_text(encoding="utf-8"))
    code: str = compiled["deployedBytecode"]["object"]
    return app.chain.put_code(app.chain.token("UNI").address, code.removeprefix("0x"))


def treat(app: PartnerApp, account: str, *, as_sender: Treatment = HONEST, as_receiver: Treatment = HONEST) -> None:
    """Let UNI treat an account in this way."""
    data = "0x" + TREAT.encode(account, as_sender, as_receiver).hex()
    tx_hash = app.chain.send(app.user, {"to": app.chain.token("UNI").address, "data": data})
    assert app.chain.receipt(tx_hash)["status"] == 1


def pools(app: PartnerApp) -> dict[str, str]:
    """Return UNI's pools with the wrapped coin by the name of their router."""
    pair = (app.chain.token("UNI").address, app.chain.token("WETH").address)
    reads = {
        "uniswap_v2": (app.chain.contracts["uniswapV2Factory"], GET_PAIR, GET_PAIR.encode(*pair)),
        "uniswap_v3": (app.chain.contracts["uniswapV3Factory"], GET_POOL, GET_POOL.encode(*pair, 10_000)),
    }
    return {
        name: to_checksum_address(
            function.decode(app.chain.web3.eth.call({"to": to_checksum_address(to), "data": data}))[0]
        )
        for name, (to, function, data) in reads.items()
    }


def wallet_of(app: PartnerApp, *, holds: bool) -> str:
    return app.user.address if holds else STRANGER


@pytest.mark.usefixtures("honeypot")
@pytest.mark.parametrize("holds", [True, False])
def test_a_token_that_treats_all_accounts_alike_is_built(app: PartnerApp, *, holds: bool) -> None:
    app.build({"UNI": 1}, wallet=wallet_of(app, holds=holds))


@pytest.mark.usefixtures("honeypot")
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
    assert error_of(response) == (422, "no_route")
    assert details_of(response) == {("tokens[0].mint", code)}


@pytest.mark.usefixtures("honeypot")
@pytest.mark.parametrize(("treatment", "code"), [(REFUSED, "transfer_refused"), (TAXED, "transfer_fee")])
def test_a_token_that_its_holder_cannot_send_in_full_is_refused_only_to_this_holder(
    app: PartnerApp, treatment: Treatment, code: str
) -> None:
    treat(app, app.user.address, as_sender=treatment)
    assert details_of(app.post_build(app.body({"UNI": 1}))) == {("tokens[0].mint", code)}
    app.build({"UNI": 1}, wallet=app.chain.users[1].address)
    app.build({"UNI": 1}, wallet=STRANGER)


@pytest.mark.usefixtures("honeypot")
@pytest.mark.parametrize("router", ["uniswap_v2", "uniswap_v3"])
def test_an_output_token_is_refused_if_any_pool_that_pays_it_cannot_receive_it(app: PartnerApp, router: str) -> None:
    units = {"GUSD": 1.0, "WETH": 1.0}
    assert {token["route"]["router"] for token in app.build(units, output="UNI")["tokens"]} == pools(app).keys()
    treat(app, pools(app)[router], as_receiver=REFUSED)
    response = app.post_build(app.body(units, output="UNI"))
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("outputMint", "transfer_refused")}


@pytest.mark.usefixtures("honeypot")
def test_a_pool_outside_the_chosen_route_may_refuse_transfers(app: PartnerApp) -> None:
    (token,) = app.build({"UNI": 1})["tokens"]
    (other,) = pools(app).keys() - {token["route"]["router"]}
    treat(app, pools(app)[other], as_sender=REFUSED, as_receiver=REFUSED)
    app.build({"UNI": 1})
