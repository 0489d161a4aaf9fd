"""The transaction that is answered executes the sweep as it is, whatever the offer swaps and however it was signed."""

from collections.abc import Callable

import pytest

from sweepapi import networks
from sweepapi.evm.chain.fee_models.op_stack import OpStackFees
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep
from sweeps.rails.evm.finalize.stored_offer import StoredOffer
from sweeps.rails.registry import EVM_RAILS
from tests.fake_node import FakeNode, without_simulation
from tests.fee_oracles import put_op_oracle, units_of
from tests.local_chain import LocalChain
from tests.market_moves import crash_price
from tests.nitro import NitroChain
from tests.partner_app import PartnerApp, only_v5
from tests.sweeps.finalize.wallet_signatures import compact, finalize, high_s, send, sign, signatures_of
from tests.wallets import executions_of

pytestmark = pytest.mark.django_db

PLANS: list[tuple[dict[str, float], str, str]] = [
    ({"USDC": 3, "LINK": 1}, "WETH", "permit2"),
    ({"UNI": 4, "DAI": 2}, "WETH", "permits"),
    ({"WBTC": 0.001, "LINK": 1, "WETH": 0.1}, "USDC", "permit2"),
    ({"USDC": 3, "WETH": 0.5}, "ETH", "permit2"),
    ({"WETH": 0.5}, "ETH", "permit2"),
    ({"USDC": 3, "TFEE": 5}, "WETH", "permit2"),
]


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


@pytest.mark.parametrize(("units", "output", "kind"), PLANS)
@pytest.mark.parametrize("on_leg_failure", ["revert", "skip"])
def test_it_is_what_the_build_answered_with_the_signatures_in_place(
    app: PartnerApp, units: dict[str, float], output: str, kind: str, on_leg_failure: str
) -> None:
    built = app.build(units, output=output, approvals="unlimited", onLegFailure=on_leg_failure)
    if kind == "permit2":
        app.approve(built)
    answer = finalize(app, built, signatures_of(app.user, built, kind), kind)
    assert answer["wallet"] == {"code": "none", "delegate": None}
    execution = executions_of(built)[kind]
    assert len(answer["transaction"]["data"]) == len(execution["transaction"]["data"])
    state = send(app, built, answer)
    assert (state["status"], state["skippedCount"]) == ("completed", 0)
    assert answer["simulation"]["grossOutput"] == state["feeAuthorization"]["actualFees"]["grossOutput"]
    assert answer["simulation"]["gasUsed"] == state["transaction"]["gasUsed"]


@only_v5
@pytest.mark.parametrize(("units", "output", "kind"), PLANS)
def test_the_limit_suffices_and_is_at_most_a_tenth_above_the_least_that_does(
    app: PartnerApp, units: dict[str, float], output: str, kind: str
) -> None:
    built = app.build(units, output=output, approvals="unlimited")
    if kind == "permit2":
        app.approve(built)
    transaction = finalize(app, built, signatures_of(app.user, built, kind), kind)["transaction"]
    least = least_limit(app.chain, app, transaction)
    assert least <= int(transaction["gas"]) <= least * 11 // 10


def least_limit(chain: LocalChain, app: PartnerApp, transaction: dict[str, str]) -> int:
    """Return the least limit that suffices, to 1,000 gas, by sending the transaction again and again."""
    fails, suffices = 21_000, int(transaction["gas"])
    while suffices - fails > 1_000:
        limit = (fails + suffices) // 2
        snapshot = chain.rpc("evm_snapshot")
        mined = chain.receipt(chain.send(app.user, transaction, gas=limit))["status"] == 1
        chain.rpc("evm_revert", snapshot)
        fails, suffices = (fails, limit) if mined else (limit, suffices)
    return suffices


def test_every_spelling_of_a_keys_signature_gives_the_same_transaction(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    plain = sign(app.user, built["permit2"])
    r, s, parity = plain[:32].hex(), plain[32:64].hex(), plain[64] - 27
    spellings = [
        f"0x{plain.hex()}",
        plain.hex(),
        f"0X{plain.hex().upper()}",
        f"0x{(plain[:64] + bytes([parity])).hex()}",
        f"0x{high_s(plain).hex()}",
        f"0x{compact(plain).hex()}",
        {"r": f"0x{r}", "s": f"0x{s}", "v": plain[64]},
        {"r": r, "s": s, "v": str(plain[64])},
        {"r": f"0x{r}", "s": f"0x{s}", "v": hex(plain[64]), "yParity": parity},
        {"r": f"0x{r}", "s": f"0x{s}", "yParity": hex(parity)},
        {"r": f"0x{r}", "s": f"0x{s}", "v": parity},
    ]
    answers = [finalize(app, built, [spelling])["transaction"]["data"] for spelling in spellings]
    assert len(set(answers)) == 1
    assert plain.hex() in answers[0]


def test_the_newest_offer_is_finished_with_the_signature_of_an_earlier_one(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "LINK": 1, "DAI": 2}, slippageBps=50, onLegFailure="skip")
    app.approve(built)
    signatures = signatures_of(app.user, built)
    crash_price(app, "LINK")
    path = f"/v2/sweep/build/{built['sweepId']}/refresh"
    assert app.api.post(path, {}, content_type="application/json").status_code == 200
    state = send(app, built, finalize(app, built, signatures))
    assert [token["outcome"] for token in state["tokens"]] == ["swept", "dropped", "swept"]


def test_the_call_that_is_read_back_is_the_one_that_was_issued(app: PartnerApp) -> None:
    for units, output, kind in PLANS:
        built = app.build(units, output=output, approvals="unlimited", onLegFailure="skip")
        sweep = Sweep.objects.get(id=built["sweepId"])
        offer = StoredOffer.newest(EVM_RAILS[sweep.rail], networks.current().chain(sweep.network), sweep)
        permits = offer.token_permits if kind == "permits" else []
        execution = executions_of(built)[kind]
        assert f"0x{offer.calldata(permits).hex()}" == execution["transaction"]["data"]
        assert [typed_data.for_wallets() for typed_data in offer.typed_data(permits)] == execution["typedData"]


@pytest.mark.parametrize("kind", ["permits", "permit2"])
def test_it_takes_two_round_trips(app: PartnerApp, round_trips: list[list[str]], kind: str) -> None:
    built = app.build({"UNI": 4})
    app.approve(built)
    signatures = signatures_of(app.user, built, kind)
    round_trips.clear()
    finalize(app, built, signatures, kind)
    assert len(round_trips) == 2


def test_without_simulations_the_limit_is_measured_anyway(app: PartnerApp, node: FakeNode) -> None:
    built = app.build()
    app.approve(built)
    node.alter = without_simulation
    answer = finalize(app, built, signatures_of(app.user, built))
    assert answer["simulation"] == {"gasUsed": None, "grossOutput": None}
    assert send(app, built, answer)["status"] == "completed"


@only_v5
def test_the_fee_for_data_is_that_of_the_finished_transaction(
    app: PartnerApp, change_chain: Callable[..., object]
) -> None:
    change_chain(fee_model=OpStackFees())
    put_op_oracle(app.chain, wei_per_unit=1)
    built = app.build()
    app.approve(built)
    transaction = finalize(app, built, signatures_of(app.user, built))["transaction"]
    units = units_of(bytes.fromhex(transaction["data"][2:]))
    assert units < int(transaction["dataFee"]) < units + 16 * 150


@only_v5
@pytest.mark.parametrize("ratio", [1, 70, 1_000, 10_000])
def test_the_limit_holds_what_the_chain_takes_for_the_data(
    app: PartnerApp, charge_for_data: Callable[[int], NitroChain], ratio: int
) -> None:
    app = PartnerApp(app.api, charge_for_data(ratio).local)
    built = app.build({"UNI": 4})
    answer = finalize(app, built, signatures_of(app.user, built, "permits"), "permits")
    tx_hash = app.chain.send(app.user, answer["transaction"], gas=int(answer["transaction"]["gas"]))
    assert app.chain.receipt(tx_hash)["status"] == 1


def test_without_a_provider_it_is_to_be_sent_again(app: PartnerApp, use_providers: Callable[..., ProviderPool]) -> None:
    built = app.build()
    signatures = signatures_of(app.user, built)
    use_providers("http://127.0.0.1:9")
    body = {"execution": "permit2", "signatures": signatures}
    path = f"/v2/sweep/status/{built['sweepId']}/finalize"
    response = app.api.post(path, body, content_type="application/json")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "chain_unavailable")
    assert int(response.headers["Retry-After"]) > 0
