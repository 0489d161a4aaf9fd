"""Executions of sweeps that the database lost are adopted on request: completed, booked, shown, and only once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client

from indexer import books, reconciliation
from ledger.balances import balance_of
from ledger.entries.reading import postings_of
from ledger.models import Finality
from partners.models import ApiKey, Partner
from sweepapi import networks
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.logs import log_scan
from sweepapi.evm.tokens import erc20
from sweepapi.evm.tokens.erc20 import TokenIdentity
from sweepapi.modes import Mode
from sweepapi.networks import Networks
from sweeps.books.adoption import NotAdoptableError
from sweeps.books.comparison import Adoption
from sweeps.models import Execution, Sweep
from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.reconcile import rereading
from sweeps.rails.evm.reconcile.adopting import Orphan, adopt
from sweeps.rails.evm.reconcile.comparing import OF_ANOTHER_WALLET
from sweeps.rails.evm.reconcile.unmatched import explain
from sweeps.rails.evm_v4.terms import sweep_ref_of
from sweeps.rails.registry import EVM_AUDITOR
from sweeps.story.reopening import reopen
from tests.factories.partners import PartnerFactory
from tests.indexer.reconciled import NETWORK, state, warnings
from tests.local_chain import FINAL_AFTER
from tests.lost_commits import lost_commits
from tests.operator_browser import ConsoleClient, reverse
from tests.own_permit import send_own
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

Lost = tuple[dict[str, Any], str]


def repaired(**named: Partner) -> list[Adoption]:
    blocks = books.compare(networks.current(), NETWORK, first=None, last=None).blocks
    return list(books.repair(networks.current(), NETWORK, blocks, named=named, by="ops"))


def problems() -> list[str]:
    return [one.problem.value for one in books.compare(networks.current(), NETWORK, first=None, last=None).differences]


def lose(app: PartnerApp) -> Lost:
    """Execute a sweep that the database forgets; return its last status object and the hash."""
    with lost_commits():
        lost = app.complete()
    app.chain.mine(FINAL_AFTER)
    return lost


def execute_as(app: PartnerApp, user: Any, built: dict[str, Any], sweep_ref: str) -> str:
    """Have a wallet execute its V4 build under another reference; returns the hash."""
    app.approve(built, user=user)
    args = list(built["transactionTemplate"]["args"])
    args[1] = [*args[1][:2], sweep_ref]
    return send_own(app.chain, user, built | {"transactionTemplate": built["transactionTemplate"] | {"args": args}})


@pytest.fixture
def lost(app: PartnerApp) -> Lost:
    """A V5 sweep that was executed and forgotten."""
    return lose(app)


@pytest.fixture
def lost_v4(app: PartnerApp, use_mode: Any) -> Lost:
    use_mode("v4_fallback")
    return lose(app)


# --- V5 ---------------------------------------------------------------------------------------------------------------


def test_a_lost_sweep_on_v5_is_completed_and_booked_as_its_event_says(lost: Lost, partner: Partner) -> None:
    before, tx_hash = lost
    (adoption,) = repaired()
    sweep = Sweep.objects.get()
    assert (adoption.sweep_id, adoption.tx_hash, adoption.refusal) == (sweep.id, tx_hash, "")
    assert (sweep.partner, sweep.wallet, sweep.rail) == (partner, before["wallet"], "evm_v5")
    assert state(sweep) == ("completed", False, ["adopted"])
    execution = sweep.executions.get()
    actual = before["feeAuthorization"]["actualFees"]
    assert (str(execution.gross_output), str(execution.user_amount)) == (actual["grossOutput"], actual["userAmount"])
    assert (execution.execution_id, execution.status) == (before["feeAuthorization"]["nonce"], "executed")
    assert {(one.account.name, abs(one.amount)) for one in postings_of(sweep.id)} == {
        ("fees_charged", int(actual["totalFee"])),
        ("partner_settled", int(actual["partnerFee"])),
        ("protocol_revenue", int(actual["protocolFee"])),
    }
    assert Finality.objects.get().entry_id == execution.ledger_entry_id


@pytest.mark.usefixtures("lost")
def test_the_books_equal_the_chain_afterwards_and_adopting_again_changes_nothing() -> None:
    assert problems() == ["event_without_sweep"]
    repaired()
    assert problems() == []
    event = UnmatchedEvent.objects.get()
    assert (event.status, event.explained_by) == ("explained", "ops")
    assert event.explanation == f"Adopted as sweep {Sweep.objects.get().id}."
    assert repaired() == []
    assert warnings() == []
    assert Sweep.objects.count() == 1


@pytest.mark.usefixtures("lost")
def test_a_run_that_adopts_it_meanwhile_is_the_one_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    read, rival = erc20.token_identity, list[Adoption]()

    def read_late(results: Sequence[Any]) -> TokenIdentity | None:
        monkeypatch.setattr(erc20, "token_identity", read)
        rival.extend(repaired())
        return read(results)

    monkeypatch.setattr(erc20, "token_identity", read_late)
    assert repaired() == []
    assert [one.sweep_id for one in rival] == [Sweep.objects.get().id]
    assert problems() == []


@pytest.mark.usefixtures("lost")
def test_what_operators_have_explained_is_not_adopted(app: PartnerApp) -> None:
    app.build()
    reconciliation.reconcile()
    explain(event_id=UnmatchedEvent.objects.get().pk, explanation="Booked by hand.", explained_by="ops")
    assert repaired() == []
    assert Sweep.objects.count() == 1


@pytest.mark.usefixtures("lost")
def test_a_payout_wallet_that_was_replaced_since_is_known(partner: Partner, app: PartnerApp) -> None:
    partner.payout_wallet = app.chain.users[3].address
    partner.save()
    assert [one.refusal for one in repaired()] == [""]


def test_a_recipient_that_is_not_known_as_the_partners_is_not_paid_by_an_adoption(
    app: PartnerApp, partner: Partner
) -> None:
    wallet = app.chain.users[3].address
    with lost_commits():
        Partner.objects.update(payout_wallet=wallet)
        app.complete()
    app.chain.mine(FINAL_AFTER)
    (refused,) = repaired()
    assert (refused.sweep_id, refused.refusal) == (None, f"{wallet} never was a payout wallet of {partner}.")
    assert problems() == ["event_without_sweep"]


def test_a_partner_that_was_lost_too_has_to_be_stored_first(app: PartnerApp) -> None:
    with lost_commits():
        lost_partner = PartnerFactory.create()
        _, key = ApiKey.issue(partner=lost_partner, name="tests", mode=Mode.TEST)
        replace(app, api=Client(headers={"x-api-key": key})).complete()
    app.chain.mine(FINAL_AFTER)
    assert [one.refusal for one in repaired()] == [f"No partner has the id {lost_partner.onchain_id}."]
    PartnerFactory.create(id=lost_partner.id, payout_wallet=lost_partner.payout_wallet)
    assert [one.refusal for one in repaired()] == [""]


@pytest.mark.usefixtures("lost")
def test_another_recipient_than_the_protocols_is_not_adopted(
    app: PartnerApp, change_networks: Callable[..., Networks]
) -> None:
    (chain,) = networks.current().enabled
    other = replace(chain, protocol_recipient=app.chain.users[3].address)
    change_networks(chains={chain.name: other})
    assert [one.refusal for one in repaired()] == [f"{chain.protocol_recipient} is not the protocol's recipient."]


@pytest.mark.usefixtures("lost")
def test_amounts_that_do_not_add_up_are_not_adopted(app: PartnerApp) -> None:
    contract, registry = app.chain.contracts["v5"], networks.current()
    places = rereading.places_of(registry.chain(NETWORK), EVM_AUDITOR.rails)
    (place,) = (one for one in places if one.contract == contract)
    blocks = rereading.final_blocks(registry, NETWORK, first=None, last=None)
    ((_, span),) = rereading.spans(registry, place, blocks)
    (mined,) = span.logs
    receipts = log_scan.receipts(registry.pool(NETWORK), place.stream, [mined])
    emitted = place.rail.emitted(mined.log)
    assert emitted is not None
    outcome = emitted.outcome
    assert outcome is not None
    assert outcome.parties is not None
    for changed in (
        replace(outcome, gross_output=outcome.gross_output + 1),
        replace(outcome, total_fee=outcome.total_fee + 1),
        replace(outcome, user_amount=outcome.user_amount + 1),
        replace(outcome, parties=replace(outcome.parties, partner_fee=outcome.parties.partner_fee + 1)),
        replace(outcome, parties=replace(outcome.parties, protocol_fee=outcome.parties.protocol_fee + 1)),
    ):
        orphan = Orphan(place, mined, replace(emitted, outcome=changed), receipts[mined.tx_hash])
        with pytest.raises(NotAdoptableError, match="do not add up"):
            adopt(registry, orphan, named=None, by="ops")


def test_a_native_output_is_shown_as_the_chains_coin(app: PartnerApp) -> None:
    with lost_commits():
        built = app.build(output="ETH")
        app.confirm(built, app.execute(built))
    app.chain.mine(FINAL_AFTER)
    repaired()
    sweep = Sweep.objects.get()
    assert (sweep.output_asset, sweep.output_symbol, sweep.output_decimals) == (NATIVE_COIN, "ETH", 18)


@pytest.mark.usefixtures("lost")
def test_a_sweep_that_is_found_with_lost_ones_is_settled(app: PartnerApp) -> None:
    built = app.build()
    app.execute(built)
    app.chain.mine(FINAL_AFTER)
    assert len(repaired()) == 1
    assert state(Sweep.objects.get(id=built["sweepId"]))[0] == "completed"
    assert problems() == []


def test_a_closed_sweep_is_completed_and_flagged_by_a_repair(executed: Sweep) -> None:
    assert repaired() == []
    assert state(executed) == ("completed", True, ["executed_after_close"])
    assert problems() == []


# --- V4 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("lost_v4")
def test_a_lost_sweep_on_v4_waits_for_operators_to_name_its_partner() -> None:
    assert [one.refusal for one in repaired()] == ["Its event names no partner: name one for this transaction."]
    assert not Sweep.objects.exists()


def test_a_lost_sweep_on_v4_gets_its_id_back_and_what_the_partner_is_owed(lost_v4: Lost, partner: Partner) -> None:
    before, tx_hash = lost_v4
    repaired(**{tx_hash: partner})
    sweep = Sweep.objects.get()
    assert (str(sweep.id), sweep.partner, sweep.flags) == (before["sweepId"], partner, ["adopted"])
    balance = balance_of(partner, network=NETWORK, asset=sweep.output_asset)
    assert balance is not None
    assert str(balance.available) == before["feeAuthorization"]["actualFees"]["partnerFee"]
    assert problems() == []


def test_a_reference_that_the_service_cannot_have_made_is_not_adopted(
    app: PartnerApp, use_mode: Any, partner: Partner
) -> None:
    use_mode("v4_fallback")
    with lost_commits():
        built = app.build()
    tx_hash = execute_as(app, app.user, built, f"0x{'77' * 32}")
    app.chain.mine(FINAL_AFTER)
    assert [one.refusal for one in repaired(**{tx_hash: partner})] == [
        "Its reference is not one that the service makes."
    ]


def test_a_reference_that_names_a_sweep_which_was_not_lost_is_not_adopted(
    app: PartnerApp, use_mode: Any, partner: Partner
) -> None:
    named = UUID(app.build()["sweepId"])
    use_mode("v4_fallback")
    with lost_commits():
        built = app.build()
    tx_hash = execute_as(app, app.user, built, sweep_ref_of(named))
    app.chain.mine(FINAL_AFTER)
    assert [one.refusal for one in repaired(**{tx_hash: partner})] == [
        f"Its reference names sweep {named}, which was not lost."
    ]
    assert UnmatchedEvent.objects.get().status == "open"


def test_another_wallet_that_uses_the_reference_of_an_adopted_sweep_does_not_stop_the_scan(
    lost_v4: Lost, app: PartnerApp, partner: Partner
) -> None:
    _, tx_hash = lost_v4
    repaired(**{tx_hash: partner})
    stranger = app.chain.users[1]
    with lost_commits():
        built = app.build(wallet=stranger.address)
    execute_as(app, stranger, built, Execution.objects.get().execution_id)
    app.chain.mine(FINAL_AFTER)
    assert warnings() == ["unmatched_event"]
    assert UnmatchedEvent.objects.filter(status="open").get().reason == OF_ANOTHER_WALLET
    assert warnings() == []


# --- as it is shown, and what can't be done with it -------------------------------------------------------------------


def test_partners_see_it_also_in_their_history_without_what_only_its_offer_said(lost: Lost, app: PartnerApp) -> None:
    before, tx_hash = lost
    (adoption,) = repaired()
    shown = app.state(str(adoption.sweep_id))
    assert (shown["status"], shown["flags"], shown["transaction"]["txHash"]) == ("completed", ["adopted"], tx_hash)
    assert (shown["tokens"], shown["expiresAt"]) == ([], None)
    terms = shown["feeAuthorization"]
    assert (terms["totalFeeBps"], terms["partnerShareBps"], terms["deadline"], terms["expectedFees"]) == (None,) * 4
    assert terms["actualFees"] == before["feeAuthorization"]["actualFees"]
    assert [event["type"] for event in shown["events"]] == [
        "sweep_completed",
        "transaction_accepted",
        "entry_posted",
        "closed",
    ]
    assert shown["events"][0]["message"] == (
        "The sweep was executed. Its build was lost, so it was stored from its transaction."
    )
    (item,) = app.api.get("/v2/sweep/history").json()["data"]["items"]
    assert (item["txHashes"], item["tokenCount"], item["fees"]["expectedFees"]) == ([tx_hash], 0, None)


@pytest.mark.usefixtures("lost")
def test_the_pages_of_operators_show_it() -> None:
    (adoption,) = repaired()
    ops = ConsoleClient()
    ops.force_login(User.objects.create_superuser("ops"))
    page = ops.get(reverse("admin:sweeps_sweep_change", args=[adoption.sweep_id]))
    assert page.status_code == 200
    assert "adopted" in page.content.decode()


def test_confirming_it_again_answers_that_it_is_completed(lost_v4: Lost, app: PartnerApp, partner: Partner) -> None:
    before, tx_hash = lost_v4
    repaired(**{tx_hash: partner})
    assert app.confirm(before, tx_hash)["status"] == "completed"


@pytest.mark.usefixtures("lost")
def test_it_is_not_opened_again_because_no_terms_are_known_for_its_receipt() -> None:
    (adoption,) = repaired()
    assert adoption.sweep_id is not None
    assert not reopen(sweep_id=adoption.sweep_id, reason="To see.", requested_by="ops")


@pytest.mark.usefixtures("lost")
def test_only_an_adopted_sweep_that_is_completed_has_neither_offer_nor_minimum() -> None:
    repaired()
    changes: list[dict[str, Any]] = [{"flags": []}, {"slippage_bps": 100}, {"is_open": True}, {"status": "failed"}]
    for change in changes:
        with pytest.raises(IntegrityError, match="sweep_"), transaction.atomic():
            Sweep.objects.update(last_event=9, **change)
    with pytest.raises(IntegrityError, match="execution_has_a_minimum_unless_adopted"), transaction.atomic():
        Execution.objects.update(closed_at=None)
