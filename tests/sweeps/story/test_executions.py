"""Every way to execute a sweep that a build offers is executed on the local chain, by users who approved nothing."""

from typing import Any

import pytest

from sweepapi.evm.tokens.erc20 import ALLOWANCE, APPROVE, UNLIMITED
from sweepapi.evm.trial.attempts import ACCEPTS_SIGNATURES
from tests.local_chain import PERMIT2
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp
from tests.wallets import (
    calls_status_of,
    code_at,
    delegate,
    deployed,
    executions_of,
    send,
    send_calls,
)

pytestmark = pytest.mark.django_db

ACCEPTING = "0x" + "ac" * 20
READY = {"wallet": {"atomic": "ready"}}
FIVE: dict[str, float] = {"USDC": 3, "USDT": 2, "LINK": 1, "UNI": 4, "TFEE": 5}


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def allowance(app: PartnerApp, symbol: str, spender: str) -> int:
    data = "0x" + ALLOWANCE.encode(app.user.address, spender).hex()
    return int(app.chain.rpc("eth_call", {"to": app.chain.token(symbol).address, "data": data}, "latest"), 16)


def approve(app: PartnerApp, symbol: str, spender: str, amount: int) -> None:
    call = {"to": app.chain.token(symbol).address, "data": "0x" + APPROVE.encode(spender, amount).hex()}
    assert app.chain.receipt(app.chain.send(app.user, call))["status"] == 1


def approvals_of(execution: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the token and the amount of each approval in a batch, in order."""
    *approvals, _ = execution["calls"]["calls"]
    return [(call["to"], int(call["data"][-64:], 16)) for call in approvals]


def test_a_first_timer_sweeps_with_one_prompt_through_an_account_that_is_upgraded_with_it(app: PartnerApp) -> None:
    implementation = deployed(app.chain, "BatchAccount")
    built = app.build(FIVE, execution=READY)
    calls = executions_of(built)["calls"]
    assert (built["executions"][0], calls["prompts"], calls["transactions"]) == (calls, 1, 1)
    tx_hash = send_calls(app.chain, app.user, calls, upgrade_to=implementation)
    assert app.chain.receipt(tx_hash)["to"] == app.user.address, "no call of our contract, to look at it"
    response = app.api.post(
        f"/v2/sweep/status/{built['sweepId']}/confirm",
        {"callsStatus": calls_status_of(app.chain, tx_hash)},
        content_type="application/json",
    )
    assert (response.status_code, response.json()["data"]["status"]) == (200, "completed")
    assert [allowance(app, symbol, built["contractAddress"]) for symbol in FIVE] == [0] * len(FIVE)


def test_a_batch_approves_the_exact_amounts_for_the_contract_and_only_what_is_missing(app: PartnerApp) -> None:
    usdc, usdt, link = (app.chain.token(symbol) for symbol in ("USDC", "USDT", "LINK"))
    contract = app.build()["contractAddress"]
    approve(app, "USDT", contract, 5)
    approve(app, "LINK", contract, link.units(1))
    units: dict[str, float] = {"USDC": 3, "USDT": 2, "LINK": 1}
    calls = executions_of(app.build(units))["calls"]
    assert approvals_of(calls) == [(usdc.address, usdc.units(3)), (usdt.address, 0), (usdt.address, usdt.units(2))]
    unlimited = executions_of(app.build(units, approvals="unlimited"))["calls"]
    assert approvals_of(unlimited) == [(usdc.address, UNLIMITED), (usdt.address, 0), (usdt.address, UNLIMITED)]
    delegate(app.chain, app.user, deployed(app.chain, "BatchAccount"))
    built = app.build(units)
    assert app.confirm(built, send_calls(app.chain, app.user, executions_of(built)["calls"]))["status"] == "completed"


def test_tokens_with_their_own_permits_need_one_transaction_and_no_approval(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "UNI": 4, "WETH": 0.5}, output="ETH")
    assert "permits" not in executions_of(built), "WETH has no permit"
    app.chain.approve(app.user, app.chain.token("WETH"))
    response = app.post_build(app.body({"USDC": 3, "WETH": 0.5, "UNI": 4}, output="ETH"))
    assert_documented(response, path="/v2/sweep/build")
    built = response.json()["data"]
    permits = executions_of(built)["permits"]
    assert (permits["prompts"], permits["transactions"], permits["approvals"]) == (4, 1, [])
    assert [data["domain"]["name"] for data in permits["typedData"]] == ["USD Coin", "Uniswap", "Permit2"]
    assert app.confirm(built, send(app.chain, app.user, permits))["status"] == "completed"
    assert [allowance(app, symbol, PERMIT2) for symbol in ("USDC", "UNI")] == [0, 0]


def test_a_permit_of_dais_kind_is_signed_only_if_endless_approvals_are_wanted(app: PartnerApp) -> None:
    units: dict[str, float] = {"DAI": 3, "USDC": 2}
    assert executions_of(app.build(units)).keys() == {"calls", "permit2", "transactions"}
    for _ in range(2):  # the second time under the next nonces
        approve(app, "DAI", PERMIT2, 0)
        approve(app, "USDC", PERMIT2, 0)
        built = app.build(units, approvals="unlimited")
        dai, usdc, _ = executions_of(built)["permits"]["typedData"]
        assert (dai["message"]["allowed"], usdc["message"]["value"]) == (True, str(UNLIMITED))
        tx_hash = send(app.chain, app.user, executions_of(built)["permits"])
        assert app.confirm(built, tx_hash)["status"] == "completed"
        assert [allowance(app, symbol, PERMIT2) for symbol in units] == [UNLIMITED, UNLIMITED]


def test_the_missing_approvals_of_permit2_are_sent_before_the_sweep(app: PartnerApp) -> None:
    approve(app, "USDT", PERMIT2, 5)
    app.chain.approve(app.user, app.chain.token("LINK"))
    built = app.build({"USDC": 3, "USDT": 2, "LINK": 1})
    permit2 = executions_of(built)["permit2"]
    assert (permit2["prompts"], permit2["transactions"], len(permit2["approvals"])) == (5, 4, 3)
    assert permit2["typedData"] == [built["permit2"]]
    assert permit2["transaction"] == built["transaction"]
    assert app.confirm(built, send(app.chain, app.user, permit2))["status"] == "completed"
    assert allowance(app, "USDC", PERMIT2) == 0


def test_with_all_approvals_given_a_signature_and_a_transaction_are_enough(app: PartnerApp) -> None:
    app.chain.approve(app.user, app.chain.token("USDC"))
    executions = executions_of(app.build({"USDC": 3}))
    assert list(executions) == ["permit2", "transactions", "calls"], "the cheapest way that the user has leads"
    assert (executions["permit2"]["prompts"], executions["permit2"]["transactions"]) == (2, 1)


def test_a_token_that_gives_permit2_an_endless_allowance_needs_no_approval(app: PartnerApp) -> None:
    link = app.chain.token("LINK").address
    endless = deployed(app.chain, "EndlessAllowanceToken", "ChainLink Token", "LINK", 18)
    app.chain.put_code(link, code_at(app.chain, endless))
    built = app.build({"LINK": 1})
    permit2 = executions_of(built)["permit2"]
    assert (built["issues"]["allowance"], permit2["approvals"], permit2["prompts"]) == ([], [], 2)
    assert [token for token, _ in approvals_of(executions_of(built)["calls"])] == [link]
    assert app.confirm(built, send(app.chain, app.user, permit2))["status"] == "completed"


@pytest.mark.parametrize(
    ("atomic", "kinds"),
    [
        ("unsupported", ["transactions", "permits", "permit2"]),
        ("ready", ["calls", "transactions", "permits", "permit2"]),
        ("supported", ["calls", "transactions", "permits", "permit2"]),
    ],
)
def test_a_wallet_that_makes_no_batches_is_not_offered_one(app: PartnerApp, atomic: str, kinds: list[str]) -> None:
    assert list(executions_of(app.build({"USDC": 3}, execution={"wallet": {"atomic": atomic}}))) == kinds


def test_a_delegated_account_whose_code_checks_no_signatures_makes_a_batch_or_plain_transactions(
    app: PartnerApp,
) -> None:
    implementation = deployed(app.chain, "BatchAccount")
    delegate(app.chain, app.user, implementation)
    response = app.post_build(app.body({"USDC": 3, "UNI": 4}))
    assert_documented(response, path="/v2/sweep/build")
    built = response.json()["data"]
    assert built["issues"]["wallet"] == {
        "code": "delegated",
        "delegate": implementation,
        "answersEip1271": False,
        "takesPlainSignature": None,
    }
    assert ("no_signatures", None) in [(warning["code"], warning["token"]) for warning in built["warnings"]]
    assert list(executions_of(built)) == ["transactions", "calls"]
    assert app.confirm(built, send_calls(app.chain, app.user, executions_of(built)["calls"]))["status"] == "completed"
    again = app.build({"USDC": 3}, execution={"wallet": {"atomic": "unsupported"}})
    (plain,) = again["executions"]
    assert (plain["kind"], plain["prompts"], plain["typedData"], plain["signatureParts"]) == ("transactions", 2, [], [])
    assert app.confirm(again, send(app.chain, app.user, plain))["status"] == "completed"


def test_each_call_of_a_batch_has_a_limit_if_the_wallet_takes_them(app: PartnerApp) -> None:
    says = {"wallet": {"atomic": "ready", "gasLimitOverride": True}}
    response = app.post_build(app.body({"USDC": 3, "UNI": 4}, execution=says))
    assert_documented(response, path="/v2/sweep/build")
    *approvals, sweep = executions_of(response.json()["data"])["calls"]["calls"]["calls"]
    limits = [int(call["capabilities"]["gasLimitOverride"]["value"], 16) for call in (*approvals, sweep)]
    assert all(46_000 < limit < 80_000 for limit in limits[:-1])
    assert limits[-1] > 200_000
    without = executions_of(app.build({"USDC": 3}, execution=READY))["calls"]["calls"]["calls"]
    assert not any("capabilities" in call for call in without)


@pytest.mark.parametrize("kind", ["calls", "permits", "permit2"])
def test_a_delegated_account_whose_code_checks_signatures_can_go_every_way(app: PartnerApp, kind: str) -> None:
    delegate(app.chain, app.user, deployed(app.chain, "SigningBatchAccount"))
    built = app.build({"USDC": 3, "UNI": 4})
    assert built["issues"]["wallet"]["answersEip1271"] is True
    assert "no_signatures" not in [warning["code"] for warning in built["warnings"]]
    execution = executions_of(built)[kind]
    way = send_calls if kind == "calls" else send
    assert app.confirm(built, way(app.chain, app.user, execution))["status"] == "completed"


@pytest.mark.parametrize("length", [1, 64, 66, 130])
def test_a_signature_of_another_length_goes_where_the_answer_says(app: PartnerApp, length: int) -> None:
    app.chain.put_code(ACCEPTING, ACCEPTS_SIGNATURES.removeprefix("0x"))
    delegate(app.chain, app.user, ACCEPTING)
    app.chain.approve(app.user, app.chain.token("LINK"))
    built = app.build({"LINK": 1})
    permit2 = executions_of(built)["permit2"]
    (part,) = permit2["signatureParts"]
    cut = part["byteOffset"] - 32
    assert cut == built["transactionTemplate"]["signature"]["lengthOffset"]
    signature = b"\x07" * length + bytes(-length % 32)
    data = bytes.fromhex(permit2["transaction"]["data"][2:])[:cut] + length.to_bytes(32, "big") + signature
    transaction = permit2["transaction"] | {"data": f"0x{data.hex()}"}
    tx_hash = app.chain.send(app.user, transaction, gas=int(transaction["gas"]))
    assert app.confirm(built, tx_hash)["status"] == "completed"


def test_a_contract_has_no_key_that_could_sign_permits_of_tokens(app: PartnerApp) -> None:
    wallet = deployed(app.chain, "SigningBatchAccount")
    built = app.build({"USDC": 3}, wallet=wallet)
    assert built["issues"]["wallet"] == {
        "code": "contract",
        "delegate": None,
        "answersEip1271": True,
        "takesPlainSignature": None,
    }
    assert executions_of(built).keys() == {"calls", "permit2", "transactions"}


def test_a_key_is_asked_nothing_about_signatures(app: PartnerApp) -> None:
    wallet = app.build()["issues"]["wallet"]
    assert wallet == {"code": "none", "delegate": None, "answersEip1271": None, "takesPlainSignature": None}


@pytest.mark.parametrize(("permit2", "contract"), [(5, 0), (0, 5), (5, 5)])
def test_only_an_allowance_that_is_not_zero_is_reset(app: PartnerApp, permit2: int, contract: int) -> None:
    approve(app, "USDT", PERMIT2, permit2)
    approve(app, "USDT", app.build()["contractAddress"], contract)
    executions = executions_of(app.build({"USDT": 2}))
    assert len(executions["permit2"]["approvals"]) == (2 if permit2 else 1)
    assert len(approvals_of(executions["calls"])) == (2 if contract else 1)
