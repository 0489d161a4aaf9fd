"""Contract wallets sweep, alone or several in one transaction: each sweep is matched with its own event."""

from typing import Any

import pytest

from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp
from tests.scenarios.scene import Scene, booked, candidates_of, status_of, total_booked
from tests.scenarios.wallets import ContractWallet, call_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


@pytest.fixture
def bundler(app: PartnerApp) -> ContractWallet:
    """A wallet that owns others."""
    return ContractWallet.deploy(app.chain, app.user)


def owned(app: PartnerApp, bundler: ContractWallet, symbol: str) -> tuple[ContractWallet, dict[str, Any]]:
    """Return a wallet of the bundler, and a sweep of two of a token that it holds."""
    wallet = ContractWallet.deploy(app.chain, app.user, owner=bundler.address)
    wallet.fund(app.chain, app.chain.token(symbol), 2)
    return wallet, app.build({symbol: 2}, wallet=wallet.address)


def fee_of(app: PartnerApp, built: dict[str, Any]) -> int:
    return int(app.state(built["sweepId"])["feeAuthorization"]["actualFees"]["totalFee"])


def test_a_contract_wallet_approves_and_sweeps_in_one_transaction_of_its_owner(app: PartnerApp, scene: Scene) -> None:
    wallet = ContractWallet.deploy(app.chain, app.user)
    wallet.fund(app.chain, app.chain.token("USDC"), 2)
    built = app.build({"USDC": 2}, wallet=wallet.address)
    tx_hash = app.chain.send(app.user, call_of(wallet.sweep(built)))
    assert app.confirm(built, tx_hash)["status"] == "completed"
    assert total_booked(built) == fee_of(app, built)
    app.chain.mine(FINAL_AFTER)
    scene.check()
    assert status_of(built) == ("completed", False)


def test_sweeps_of_two_wallets_in_one_transaction_are_each_booked_with_their_own_amounts(
    app: PartnerApp, bundler: ContractWallet
) -> None:
    sweeps = [owned(app, bundler, symbol) for symbol in ("USDC", "LINK")]
    tx_hash = app.chain.send(app.user, call_of(bundler.through(wallet.sweep(built) for wallet, built in sweeps)))
    states = [app.confirm(built, tx_hash) for _, built in sweeps]
    assert [state["status"] for state in states] == ["completed", "completed"]
    fees = [fee_of(app, built) for _, built in sweeps]
    assert fees[0] != fees[1]
    assert [booked(built) for _, built in sweeps] == [[("sweep_fee", fee)] for fee in fees]


def test_two_sweeps_of_one_wallet_in_one_transaction_are_told_apart(app: PartnerApp) -> None:
    wallet = ContractWallet.deploy(app.chain, app.user)
    for symbol in ("USDC", "LINK"):
        wallet.fund(app.chain, app.chain.token(symbol), 2)
    sweeps = [app.build({symbol: 2}, wallet=wallet.address) for symbol in ("USDC", "LINK")]
    tx_hash = app.chain.send(app.user, call_of(wallet.sweep(*sweeps)))
    assert [app.confirm(built, tx_hash)["status"] for built in sweeps] == ["completed", "completed"]
    assert booked(sweeps[0]) != booked(sweeps[1])


def test_a_sweep_of_a_bundle_that_was_not_reported_is_found_beside_the_one_that_was(
    app: PartnerApp, scene: Scene, bundler: ContractWallet
) -> None:
    reported, unreported = (owned(app, bundler, symbol) for symbol in ("USDC", "LINK"))
    calls = (wallet.sweep(built) for wallet, built in (reported, unreported))
    tx_hash = app.chain.send(app.user, call_of(bundler.through(calls)))
    app.confirm(reported[1], tx_hash)
    app.chain.mine(FINAL_AFTER)
    scene.check()
    scene.check()
    assert status_of(unreported[1]) == ("completed", False)
    assert candidates_of(unreported[1]) == {tx_hash: "accepted"}


def test_a_bundle_that_leaves_the_chain_takes_all_its_sweeps_with_it(
    app: PartnerApp, scene: Scene, bundler: ContractWallet
) -> None:
    sweeps = [owned(app, bundler, symbol) for symbol in ("USDC", "LINK")]
    before = app.chain.rpc("evm_snapshot")
    bundle = call_of(bundler.through(wallet.sweep(built) for wallet, built in sweeps))
    tx_hash = app.chain.send(app.user, bundle)
    for _, built in sweeps:
        app.confirm(built, tx_hash)
    app.chain.roll_back(before)
    app.chain.mine(2, seconds=3)
    scene.check()
    assert [(status_of(built), total_booked(built)) for _, built in sweeps] == [(("pending", True), 0)] * 2
    assert app.chain.send(app.user, bundle) == tx_hash
    scene.check()
    assert [total_booked(built) for _, built in sweeps] == [fee_of(app, built) for _, built in sweeps]


def test_a_bundle_that_reverts_as_a_whole_executes_none_of_its_sweeps(app: PartnerApp, bundler: ContractWallet) -> None:
    sweeps = [owned(app, bundler, symbol) for symbol in ("USDC", "LINK")]
    first = sweeps[0][0].sweep(sweeps[0][1])
    tx_hash = app.chain.send(app.user, call_of(bundler.through([first, sweeps[1][0].sweep(sweeps[1][1]), first])))
    assert app.chain.receipt(tx_hash)["status"] == 0
    for _, built in sweeps:
        assert app.post_confirm(built["sweepId"], tx_hash).status_code == 422
        assert (status_of(built), booked(built)) == (("failed", True), [])
