"""Every outcome that the guide to the sandbox lists, through the API alone: from the build to the last status."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from sweepapi import networks
from sweeps.sandbox.operating import advance
from sweeps.sandbox.outcomes import AMOUNTS, TOKENS, ForcedOutcome
from tests.factories.partners import PartnerFactory
from tests.partner_app import details_of, error_of
from tests.scenarios.scene import Scene
from tests.sweeps.sandbox.tester import COIN, SandboxUser

pytestmark = pytest.mark.django_db

FINAL_BLOCKS = 9
SYMBOL = "0x95d89b41"  # symbol()


@pytest.fixture
def tester(tester: SandboxUser) -> SandboxUser:
    """The partner, whose wallet is funded."""
    tester.fund()
    return tester


def state_of(tester: SandboxUser, built: dict[str, Any]) -> tuple[str, bool, str | None]:
    """Return status, whether it is open, and the finality of its transaction, after the worker has checked."""
    scene = Scene(tester.app)
    scene.check()
    scene.check()
    state = tester.app.state(built["sweepId"])
    transaction = state["transaction"]
    return state["status"], state["open"], None if transaction is None else transaction["finality"]


def sent(tester: SandboxUser, amount: int, **choices: Any) -> tuple[dict[str, Any], str]:
    """Build a sweep of the token ``script`` and send it; returns the answer and the hash."""
    built = tester.build({"script": amount}, **choices)
    assert built["issues"]["simulation"]["status"] == "ok"
    tester.approve(built)
    return built, tester.execute(built)


def amount_of(outcome: ForcedOutcome) -> int:
    return COIN + AMOUNTS[outcome].remainder


# --- tokens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "amount", "code", "detail"),
    [
        ("no_route", COIN, "tokens_refused", "no_route"),
        ("honeypot", COIN, "tokens_refused", "transfer_refused"),
        ("failing_simulation", COIN, "tokens_refused", "simulation_failed"),
        ("price_impact", 500 * COIN, "tokens_refused", "price_impact_too_high"),
    ],
)
def test_a_token_is_refused_with_its_code_by_quotes_and_builds_and_skipped_if_wanted(
    tester: SandboxUser, name: str, amount: int, code: str, detail: str
) -> None:
    body = tester.body({name: amount})
    refused = tester.app.post_build(body)
    assert (error_of(refused), {code for _, code in details_of(refused)}) == ((422, code), {detail})
    quoted = tester.app.api.post("/v2/sweep/quote", body, content_type="application/json")
    assert error_of(quoted) == (422, code)
    built = tester.build({"script": COIN, name: amount}, onUnroutable="skip")
    assert [one["reason"] for one in built["skippedTokens"]] == [detail]
    assert built["estimatedOutput"] == tester.build({"script": COIN})["estimatedOutput"]
    alone = tester.app.post_build(body | {"onUnroutable": "skip"})
    assert (error_of(alone), {code for _, code in details_of(alone)}) == ((422, code), {detail})


def test_a_taxed_token_is_built_with_its_tax_and_completes(tester: SandboxUser) -> None:
    built = tester.build({"transfer_tax": 100 * COIN})
    assert built["tokens"][0]["transferTaxBps"] == 199  # of two transfers
    tester.approve(built)
    assert tester.app.confirm(built, tester.execute(built))["status"] == "completed"


def test_a_stale_token_reverts_on_chain_and_is_swept_again_once_it_is_fresh(tester: SandboxUser) -> None:
    built = tester.build({"revert": COIN})
    tester.approve(built)
    tester.advance(seconds=601)
    tx_hash = tester.execute(built)
    response = tester.app.post_confirm(built["sweepId"], tx_hash)
    assert error_of(response) == (422, "transaction_reverted")
    assert state_of(tester, built)[:2] == ("failed", True)
    tester.advance(blocks=FINAL_BLOCKS, seconds=1000)
    assert state_of(tester, built)[:2] == ("failed", False)
    tester.fund()
    again = tester.build({"revert": COIN})
    assert tester.app.confirm(again, tester.execute(again))["status"] == "completed"


def test_a_token_whose_price_fell_since_the_build_is_left_out_if_the_build_allowed_that(tester: SandboxUser) -> None:
    choices = {"onLegFailure": "skip", "maxSkipped": 1, "approvals": "unlimited"}  # for both sweeps
    built = tester.build({"script": COIN, "price_impact": 5 * COIN}, **choices)
    tester.approve(built)
    falling = tester.build({"price_impact": 20 * COIN})
    tester.app.confirm(falling, tester.execute(falling))
    state = tester.app.confirm(built, tester.execute(built))
    assert (state["status"], state["skippedCount"]) == ("completed", 1)
    assert [token["outcome"] for token in state["tokens"]] == ["swept", "skipped"]


# --- amounts ----------------------------------------------------------------------------------------------------------


def test_any_other_amount_completes_and_is_final_after_nine_blocks(tester: SandboxUser) -> None:
    built, tx_hash = sent(tester, COIN)
    assert tester.app.confirm(built, tx_hash)["status"] == "completed"
    assert state_of(tester, built) == ("completed", True, "included")
    tester.advance(blocks=5)
    assert state_of(tester, built) == ("completed", True, "safe")
    tester.advance(blocks=4)
    assert state_of(tester, built) == ("completed", False, "final")


def test_delayed_mining_waits_for_the_next_advance(tester: SandboxUser) -> None:
    built, tx_hash = sent(tester, amount_of(ForcedOutcome.DELAYED_MINING))
    assert not tester.is_mined(tx_hash)
    assert tester.app.confirm(built, tx_hash, status=202)["status"] == "pending"
    tester.advance(seconds=60)
    assert tester.is_mined(tx_hash)
    assert state_of(tester, built) == ("completed", True, "included")


def test_delayed_mining_past_the_deadline_reverts(tester: SandboxUser) -> None:
    built, tx_hash = sent(tester, amount_of(ForcedOutcome.DELAYED_MINING))
    tester.app.confirm(built, tx_hash, status=202)
    tester.advance(seconds=1000)
    assert error_of(tester.app.post_confirm(built["sweepId"], tx_hash)) == (422, "transaction_reverted")
    tester.advance(blocks=FINAL_BLOCKS)
    assert state_of(tester, built)[:2] == ("failed", False)


def test_a_reorganisation_reverses_the_sweep_and_keeps_the_transactions_of_others(tester: SandboxUser) -> None:
    sent(tester, COIN)  # the first sale in a pool takes more gas than a build after it foresees
    built, tx_hash = sent(tester, amount_of(ForcedOutcome.REORGANISED))
    tester.app.confirm(built, tx_hash)
    other = SandboxUser(tester.app)
    other.fund()
    others, others_hash = sent(other, COIN)
    assert tester.app.confirm(others, others_hash)["status"] == "completed"
    old = tester.rpc("eth_getTransactionReceipt", others_hash)

    tester.advance()
    assert not tester.is_mined(tx_hash)
    new = tester.rpc("eth_getTransactionReceipt", others_hash)
    assert (new["blockNumber"], new["status"]) == (old["blockNumber"], "0x1")
    assert new["blockHash"] != old["blockHash"]
    assert state_of(tester, built) == ("pending", True, "none")
    assert state_of(other, others)[0] == "completed"

    tester.advance()
    assert tester.is_mined(tx_hash)
    assert state_of(tester, built) == ("completed", True, "included")
    tester.advance(blocks=FINAL_BLOCKS)
    assert state_of(tester, built) == ("completed", False, "final")
    assert "reorganised" in tester.app.state(built["sweepId"])["flags"]


def test_a_sweep_that_is_reorganised_away_fails_once_its_deadline_is_past(tester: SandboxUser) -> None:
    built, tx_hash = sent(tester, amount_of(ForcedOutcome.REORGANISED_AWAY))
    tester.app.confirm(built, tx_hash)
    tester.advance()
    assert state_of(tester, built)[:2] == ("pending", True)
    tester.advance(blocks=FINAL_BLOCKS, seconds=1000)
    assert not tester.is_mined(tx_hash)
    assert state_of(tester, built)[:2] == ("failed", False)


def test_late_finality_starts_again_with_each_of_two_advances(tester: SandboxUser) -> None:
    built, tx_hash = sent(tester, amount_of(ForcedOutcome.LATE_FINALITY))
    tester.app.confirm(built, tx_hash)
    tester.app.chain.mine(6)
    assert state_of(tester, built) == ("completed", True, "safe")
    for _ in range(2):
        tester.advance()
        assert state_of(tester, built) == ("completed", True, "included")
        tester.app.chain.mine(5)
    tester.advance(blocks=4)
    assert state_of(tester, built) == ("completed", False, "final")


def test_advances_of_another_partner_do_not_count(tester: SandboxUser) -> None:
    _, tx_hash = sent(tester, amount_of(ForcedOutcome.DELAYED_MINING))

    network = f"eip155:{tester.app.chain.world['chainId']}"
    advance(networks.current(), network, PartnerFactory.create().id, blocks=1, seconds=0)
    assert not tester.is_mined(tx_hash)


def test_a_final_block_is_never_replaced(tester: SandboxUser) -> None:
    built, tx_hash = sent(tester, amount_of(ForcedOutcome.REORGANISED))
    tester.app.confirm(built, tx_hash)
    tester.app.chain.mine(FINAL_BLOCKS)
    tester.advance()
    assert tester.is_mined(tx_hash)
    assert state_of(tester, built) == ("completed", False, "final")


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_lists_every_token_and_amount_as_the_service_does(tester: SandboxUser) -> None:
    page = Path(settings.BASE_DIR, "docs/site/src/content/docs/guides/sandbox.md").read_text(encoding="utf-8")
    (chain,) = tester.app.api.get("/v2/sandbox").json()["data"]["chains"]
    assert {token["name"] for token in chain["tokens"]} == set(TOKENS)
    for token in chain["tokens"]:
        assert bytes.fromhex(tester.rpc("eth_call", {"to": token["mint"], "data": SYMBOL}, "latest")[2:]).endswith(
            token["symbol"].encode().ljust(32, b"\0")
        )
        assert f"| `{token['name']}` | {token['symbol']} |" in page
    assert {amount["name"] for amount in chain["amounts"]} == set(AMOUNTS)
    for amount in chain["amounts"]:
        assert f"| …{amount['endsWith']} | `{amount['name']}` |" in page
