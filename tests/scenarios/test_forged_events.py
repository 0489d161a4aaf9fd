"""Strangers emit events that look like ours, and a contract of ours emits what it can't have: neither is booked."""

from typing import Any

import pytest

from sweepapi.evm.encoding.addresses import eip55
from sweeps.models import Flag
from tests.factories.sweeps import executed_log
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp, error_of
from tests.scenarios.forger import forge, forging_code
from tests.scenarios.scene import Scene, booked, candidates_of, status_of, stored, total_booked
from tests.scenarios.wallets import ContractWallet, call_of
from tests.wallets import code_at

pytestmark = pytest.mark.django_db

FORGER = eip55("0x" + "f0" * 20)
PLENTY = 10**24  # above every floor
AMOUNTS = ({"total_fee": 1}, {"user_amount": 10**30}, {"user_amount": 0})


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def send_forged(app: PartnerApp, built: dict[str, Any], *, emitter: str = FORGER, **changes: Any) -> str:
    """Emit the event of the sweep's execution from the emitter's address; returns the hash."""
    log = executed_log(stored(built), **({"gross_output": PLENTY} | changes))
    app.chain.put_code(emitter, forging_code(len(log.topics)))
    tx_hash = app.chain.send(app.user, call_of(forge(emitter, log)))
    [emitted] = app.chain.receipt(tx_hash)["logs"]
    assert emitted["address"] == emitter
    return tx_hash


def test_the_same_bytes_from_another_contract_are_refused_and_the_sweep_stays_executable(app: PartnerApp) -> None:
    built = app.build()
    forged = send_forged(app, built)
    assert error_of(app.post_confirm(built["sweepId"], forged)) == (422, "event_mismatch")
    assert (status_of(built), candidates_of(built)) == (("pending", True), {forged: "rejected"})
    assert booked(built) == []
    genuine = app.execute(built)
    assert app.confirm(built, genuine)["status"] == "completed"
    assert total_booked(built) == int(app.state(built["sweepId"])["feeAuthorization"]["actualFees"]["totalFee"])


def test_a_forged_event_is_not_found_by_the_worker_either(app: PartnerApp, scene: Scene) -> None:
    built = app.build()
    send_forged(app, built)
    app.chain.mine(FINAL_AFTER)
    scene.check()
    assert (status_of(built), candidates_of(built), stored(built).flags) == (("pending", True), {}, [])


def test_a_forged_event_beside_a_genuine_one_changes_no_amount(app: PartnerApp) -> None:
    wallet = ContractWallet.deploy(app.chain, app.user)
    wallet.fund(app.chain, app.chain.token("USDC"), 2)
    built = app.build({"USDC": 2}, wallet=wallet.address)
    log = executed_log(stored(built), gross_output=PLENTY)
    app.chain.put_code(FORGER, forging_code(len(log.topics)))
    bundle = wallet.through([forge(FORGER, log), *wallet.calls_of(built), forge(FORGER, log)])
    state = app.confirm(built, app.chain.send(app.user, call_of(bundle)))
    assert int(state["feeAuthorization"]["actualFees"]["grossOutput"]) < PLENTY
    assert len(booked(built)) == 1


def test_a_genuine_sweep_does_not_vouch_for_a_forged_event_of_another_in_the_same_transaction(app: PartnerApp) -> None:
    wallet = ContractWallet.deploy(app.chain, app.user)
    wallet.fund(app.chain, app.chain.token("USDC"), 2)
    genuine, other = app.build({"USDC": 2}, wallet=wallet.address), app.build({"USDT": 2})
    log = executed_log(stored(other), gross_output=PLENTY)
    app.chain.put_code(FORGER, forging_code(len(log.topics)))
    tx_hash = app.chain.send(app.user, call_of(wallet.through([*wallet.calls_of(genuine), forge(FORGER, log)])))
    assert app.confirm(genuine, tx_hash)["status"] == "completed"
    assert error_of(app.post_confirm(other["sweepId"], tx_hash)) == (422, "event_mismatch")
    assert (status_of(other), booked(other)) == (("pending", True), [])


@pytest.mark.parametrize("changes", AMOUNTS)
def test_amounts_that_contradict_what_was_signed_are_flagged_and_never_booked(
    app: PartnerApp, scene: Scene, changes: dict[str, int]
) -> None:
    built = app.build()
    contract = built["contractAddress"]
    code = code_at(app.chain, contract)
    impossible = send_forged(app, built, emitter=contract, **changes)
    app.chain.put_code(contract, code)
    assert error_of(app.post_confirm(built["sweepId"], impossible)) == (422, "event_mismatch")
    scene.check()
    assert (status_of(built), booked(built)) == (("pending", True), [])
    assert stored(built).flags == [Flag.INCONSISTENT_AMOUNTS]
    assert app.confirm(built, app.execute(built))["status"] == "completed"
    assert len(booked(built)) == 1


@pytest.mark.parametrize(
    "changes", [{"user": FORGER}, {"output_token": FORGER}, {"token_count": 29}], ids=["user", "output", "count"]
)
def test_an_event_of_our_contract_on_other_terms_is_refused(app: PartnerApp, changes: dict[str, Any]) -> None:
    built = app.build()
    other = send_forged(app, built, emitter=built["contractAddress"], **changes)
    assert error_of(app.post_confirm(built["sweepId"], other)) == (422, "event_mismatch")
    assert (status_of(built), booked(built)) == (("pending", True), [])
