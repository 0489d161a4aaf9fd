"""A user speeds up a sweep, or cancels it in the wallet: the mined transaction decides, whichever was reported."""

import pytest

from tests.local_chain import SAFE_AFTER
from tests.partner_app import PartnerApp, error_of
from tests.scenarios.scene import Scene, booked, candidates_of, status_of, stored

pytestmark = pytest.mark.django_db

FAR_APART = 1000  # seconds: longer than any authorization lives


def test_the_first_hash_is_reported_and_the_faster_one_that_was_mined_is_found(app: PartnerApp, scene: Scene) -> None:
    built = app.build()
    app.approve(built)
    nonce = scene.next_nonce()
    with app.chain.mining_paused():
        slow = scene.pooled(built, nonce=nonce, fee_gwei=10)
        app.confirm(built, slow, status=202)
        fast = scene.pooled(built, nonce=nonce, fee_gwei=30)
        app.chain.mine()
    app.chain.mine(SAFE_AFTER)
    scene.check()
    assert status_of(built) == ("completed", True)
    assert candidates_of(built) == {slow: "replaced", fast: "accepted"}
    assert stored(built).transactions.get(tx_hash=fast).source == "discovered"
    assert len(booked(built)) == 1


def test_both_hashes_are_reported_before_either_is_mined(app: PartnerApp, scene: Scene) -> None:
    built = app.build()
    app.approve(built)
    nonce = scene.next_nonce()
    with app.chain.mining_paused():
        slow = scene.pooled(built, nonce=nonce, fee_gwei=10)
        app.confirm(built, slow, status=202)
        fast = scene.pooled(built, nonce=nonce, fee_gwei=30)
        app.confirm(built, fast, status=202)
        app.chain.mine()
    assert app.confirm(built, fast)["status"] == "completed"
    assert candidates_of(built) == {slow: "replaced", fast: "accepted"}
    refused = app.post_confirm(built["sweepId"], slow)
    assert error_of(refused) == (409, "sweep_already_confirmed")
    assert refused.json()["error"]["details"][0]["message"] == fast


def test_a_speed_up_that_is_reported_late_has_the_answer_of_the_mined_one(app: PartnerApp, scene: Scene) -> None:
    built = app.build()
    app.approve(built)
    nonce = scene.next_nonce()
    with app.chain.mining_paused():
        slow = scene.pooled(built, nonce=nonce, fee_gwei=10)
        fast = scene.pooled(built, nonce=nonce, fee_gwei=30)
        app.chain.mine()
    app.confirm(built, slow, status=202)
    assert app.confirm(built, fast)["status"] == "completed"
    assert candidates_of(built) == {slow: "replaced", fast: "accepted"}


def test_the_slow_one_is_mined_after_all_when_the_block_of_the_fast_one_leaves_the_chain(
    app: PartnerApp, scene: Scene
) -> None:
    built = app.build()
    app.approve(built)
    nonce = scene.next_nonce()
    before = app.chain.rpc("evm_snapshot")
    with app.chain.mining_paused():
        fast = scene.pooled(built, nonce=nonce, fee_gwei=30)
        app.chain.mine()
    assert app.confirm(built, fast)["status"] == "completed"
    app.chain.roll_back(before)
    with app.chain.mining_paused():
        app.chain.mine(seconds=5)
        slow = scene.pooled(built, nonce=nonce, fee_gwei=10)
        app.chain.mine(2)
    scene.check()
    assert status_of(built) == ("pending", True), "the faster one may be mined again"
    app.confirm(built, slow)
    assert status_of(built) == ("completed", True)
    assert candidates_of(built) == {fast: "replaced", slow: "accepted"}
    assert [kind for kind, _ in booked(built)] == ["sweep_fee", "reversal", "sweep_fee"]


def test_a_sweep_that_the_user_replaced_by_nothing_fails_once_its_deadline_is_proven(
    app: PartnerApp, scene: Scene
) -> None:
    built = app.build()
    app.approve(built)
    nonce = scene.next_nonce()
    with app.chain.mining_paused():
        dropped = scene.pooled(built, nonce=nonce, fee_gwei=10)
        app.confirm(built, dropped, status=202)
        scene.pool(app.user, app.user.address, "0x", nonce=nonce, fee_gwei=30)
        app.chain.mine()
    scene.check()
    assert status_of(built) == ("pending", True), "the signed transaction can still be sent again"
    app.chain.mine(seconds=FAR_APART)
    app.chain.mine(SAFE_AFTER)
    scene.check()
    assert status_of(built) == ("failed", False)
    assert candidates_of(built) == {dropped: "dropped"}
    assert booked(built) == []


def test_a_sweep_that_reverted_and_was_sent_again_completes_with_the_second(app: PartnerApp, scene: Scene) -> None:
    built = app.build()
    with app.chain.mining_paused():  # without its approval it reverts
        nonce = scene.next_nonce()
        reverted = scene.pooled(built, nonce=nonce, fee_gwei=10)
        app.chain.mine()
    assert error_of(app.post_confirm(built["sweepId"], reverted)) == (422, "transaction_reverted")
    assert status_of(built) == ("failed", True)
    app.approve(built)
    again = app.chain.sign_and_send(app.user, built)
    assert app.confirm(built, again)["status"] == "completed"
    assert candidates_of(built) == {reverted: "reverted", again: "accepted"}
