"""Blocks leave the chain from any depth above finality: what they executed is reversed, and booked again if mined."""

from collections.abc import Callable
from typing import Any

import pytest

from sweepapi.evm.chain.chains import Chain, FinalityRule
from sweeps.models import Execution
from tests.local_chain import FINAL_AFTER
from tests.market_moves import crash_price
from tests.partner_app import PartnerApp
from tests.scenarios.scene import Scene, booked, candidates_of, status_of, stored, total_booked

pytestmark = pytest.mark.django_db

DEEPEST = FINAL_AFTER - 1  # in blocks, the reorganised one included; one more is final
DEPTHS = (1, 2, DEEPEST // 2, DEEPEST)


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def fee_of(app: PartnerApp, built: dict[str, Any]) -> int:
    return int(app.state(built["sweepId"])["feeAuthorization"]["actualFees"]["totalFee"])


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_block_that_leaves_the_chain_from_any_depth_is_reversed_and_booked_again(
    app: PartnerApp, scene: Scene, depth: int
) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    tx_hash = app.chain.sign_and_send(app.user, built)
    app.chain.mine(depth - 1)
    app.confirm(built, tx_hash)
    scene.check()
    assert status_of(built) == ("completed", True)

    app.chain.roll_back(before)
    app.chain.mine(depth + 1, seconds=3)
    scene.check()
    assert status_of(built) == ("pending", True)
    assert (total_booked(built), candidates_of(built)) == (0, {tx_hash: "submitted"})

    assert app.chain.sign_and_send(app.user, built) == tx_hash
    scene.check()
    assert status_of(built) == ("completed", True)
    assert total_booked(built) == fee_of(app, built)
    app.chain.mine(FINAL_AFTER)
    scene.check()
    scene.check()
    assert (status_of(built), stored(built).flags) == (("completed", False), ["reorganised"])
    assert Execution.objects.get().booking_epoch == 1


@pytest.mark.parametrize("depth", [20, 63])
def test_finality_by_depth_follows_a_reorganisation_as_deep_as_it_allows(
    app: PartnerApp, scene: Scene, change_chain: Callable[..., Chain], depth: int
) -> None:
    change_chain(finality=FinalityRule(safe=32, final=64, recheck_seconds=3, max_head_age_seconds=None))
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    app.confirm(built, app.chain.sign_and_send(app.user, built))
    app.chain.mine(depth)
    scene.check()
    assert status_of(built) == ("completed", True)
    app.chain.roll_back(before)
    app.chain.mine(depth + 1, seconds=3)
    scene.check()
    assert (status_of(built), total_booked(built)) == (("pending", True), 0)


def test_the_same_transaction_in_another_block_of_the_same_height_is_booked_with_its_new_amounts(
    app: PartnerApp, scene: Scene
) -> None:
    built = app.build({"LINK": 1}, slippageBps=5000)
    app.approve(built)
    crash = app.chain.rpc("evm_snapshot")
    height = app.chain.web3.eth.block_number
    tx_hash = app.chain.sign_and_send(app.user, built)
    app.confirm(built, tx_hash)
    first = fee_of(app, built)

    app.chain.roll_back(crash)
    crash_slightly(app)
    assert app.chain.sign_and_send(app.user, built) == tx_hash
    app.chain.mine(3)
    assert app.chain.web3.eth.block_number > height + 1
    scene.check()
    scene.check()
    assert status_of(built) == ("completed", True)
    second = fee_of(app, built)
    assert second < first
    assert [fee for _, fee in booked(built)] == [first, -first, second]


def crash_slightly(app: PartnerApp) -> None:
    """Have another user sell some LINK."""
    whale = app.chain.users[1]
    sale = app.build({"LINK": 20}, wallet=whale.address, slippageBps=5000)
    assert app.chain.receipt(app.execute(sale, user=whale))["status"] == 1


def test_a_sweep_that_reverts_where_it_is_mined_again_is_reversed_and_fails(app: PartnerApp, scene: Scene) -> None:
    built = app.build({"LINK": 1}, slippageBps=50)
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    tx_hash = app.chain.sign_and_send(app.user, built)
    app.confirm(built, tx_hash)
    app.chain.roll_back(before)
    crash_price(app, "LINK")
    assert app.chain.sign_and_send(app.user, built) == tx_hash
    scene.check()
    scene.check()
    assert (status_of(built), total_booked(built)) == (("failed", True), 0)
    assert candidates_of(built) == {tx_hash: "reverted"}


def test_sweeps_that_were_in_the_replaced_block_and_in_blocks_below_it_are_told_apart(
    app: PartnerApp, scene: Scene
) -> None:
    stays = app.build({"USDC": 1})
    leaves = app.build({"USDT": 1}, wallet=app.chain.users[1].address)
    app.confirm(stays, app.execute(stays))
    app.approve(leaves, user=app.chain.users[1])
    before = app.chain.rpc("evm_snapshot")
    tx_hash = app.chain.sign_and_send(app.chain.users[1], leaves)
    app.confirm(leaves, tx_hash)
    app.chain.roll_back(before)
    app.chain.mine(2, seconds=3)
    scene.check()
    assert (status_of(stays), status_of(leaves)) == (("completed", True), ("pending", True))
    assert (len(booked(stays)), total_booked(leaves)) == (1, 0)


def test_a_chain_that_goes_back_and_forth_leaves_one_booking(app: PartnerApp, scene: Scene) -> None:
    built = app.build()
    app.approve(built)
    hashes = set()
    for _ in range(3):
        before = app.chain.rpc("evm_snapshot")
        hashes.add(app.chain.sign_and_send(app.user, built))
        app.confirm(built, *hashes)
        app.chain.roll_back(before)
        app.chain.mine(2, seconds=3)
        scene.check()
        assert total_booked(built) == 0
    app.chain.sign_and_send(app.user, built)
    scene.check()
    assert [kind for kind, _ in booked(built)] == ["sweep_fee", "reversal"] * 3 + ["sweep_fee"]
    assert (len(hashes), total_booked(built)) == (1, fee_of(app, built))
