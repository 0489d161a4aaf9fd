"""What is kept of a partner's transactions: what the node would mine, bounded in rows and bytes, and for a day."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from eth_account import Account

from sweeps.models import ScriptedTransaction
from sweeps.sandbox import operating, script
from sweeps.sandbox.outcomes import ForcedOutcome
from tests.sweeps.sandbox.tester import COIN, SandboxUser

pytestmark = pytest.mark.django_db

HELD = ForcedOutcome.DELAYED_MINING


@pytest.fixture
def tester(tester: SandboxUser) -> SandboxUser:
    """The partner, whose wallet is funded."""
    tester.fund()
    return tester


def error_of_send(tester: SandboxUser, raw: str) -> dict[str, Any]:
    send = {"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [raw]}
    error: dict[str, Any] = tester.answer(send)["error"]
    return error


def junk_of(tester: SandboxUser) -> str:
    return f"{tester.tokens()['script'][2:]:0>64}{COIN + 101:064x}"


@pytest.mark.parametrize("form", ["0x{junk}", "0x02{junk}", "0x00{junk}", "{signed}{junk}", "{cut}"])
def test_bytes_that_are_not_a_transaction_are_not_kept_though_they_have_an_amount_that_forces_an_outcome(
    tester: SandboxUser, form: str
) -> None:
    signed, plain = tester.scripted(HELD), tester.sign(tester.wallet.address, "0x", gas=100_000)
    error_of_send(tester, form.format(junk=junk_of(tester), signed=plain, cut=signed[:-2]))
    assert not ScriptedTransaction.objects.exists()


def test_what_the_node_would_not_mine_is_not_kept(tester: SandboxUser) -> None:
    poor = SandboxUser(tester.app, Account.create())
    assert error_of_send(poor, poor.scripted(HELD))
    sent = tester.scripted(HELD)
    tester.app.chain.receipt(tester.send(tester.wallet.address, "0x", gas=100_000))
    assert error_of_send(tester, sent)  # its nonce is used
    assert not ScriptedTransaction.objects.exists()


def test_what_is_kept_back_waits_in_no_pool_and_mining_goes_on(tester: SandboxUser) -> None:
    tx_hash = tester.send_scripted(HELD)
    assert tester.rpc("eth_getTransactionByHash", tx_hash) is None
    assert tester.rpc("eth_getTransactionCount", tester.wallet.address, "pending") == "0x0"
    other = SandboxUser(tester.app)
    other.fund()
    other.app.chain.receipt(other.send(other.wallet.address, "0x"))
    assert not tester.is_mined(tx_hash)


def test_a_partner_keeps_so_many_transactions(tester: SandboxUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "MAX_SCRIPTED", 1)
    tester.send_scripted(HELD)
    assert error_of_send(tester, tester.scripted(ForcedOutcome.REORGANISED))["code"] == -32000
    assert ScriptedTransaction.objects.count() == 1


def test_a_partner_keeps_so_many_bytes(tester: SandboxUser, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tester.scripted(HELD)
    monkeypatch.setattr(script, "MAX_SCRIPTED_BYTES", len(first) // 2 - 1)
    tester.rpc("eth_sendRawTransaction", first)
    assert error_of_send(tester, tester.scripted(HELD))["code"] == -32000
    assert ScriptedTransaction.objects.count() == 1


def test_the_same_transaction_is_kept_once(tester: SandboxUser) -> None:
    signed = tester.scripted(HELD)
    tester.rpc("eth_sendRawTransaction", signed)
    tester.rpc("eth_sendRawTransaction", signed)
    assert ScriptedTransaction.objects.count() == 1


def test_after_a_day_a_transaction_is_forgotten(tester: SandboxUser) -> None:
    tx_hash = tester.send_scripted(HELD)
    ScriptedTransaction.objects.update(sent_at=timezone.now() - timedelta(days=1))
    tester.advance()
    assert not tester.is_mined(tx_hash)
    other = tester.send_scripted(ForcedOutcome.REORGANISED)
    assert [one.tx_hash for one in ScriptedTransaction.objects.all()] == [other]


def test_blocks_with_more_than_is_kept_are_not_replaced(tester: SandboxUser, monkeypatch: pytest.MonkeyPatch) -> None:
    tx_hash = tester.send_scripted(ForcedOutcome.REORGANISED)
    tester.send(tester.wallet.address, f"0x{'00' * 100}", gas=100_000)
    monkeypatch.setattr(operating, "MAX_REPLACED_BYTES", 99)
    tester.advance()
    assert tester.is_mined(tx_hash)
    assert not ScriptedTransaction.objects.exists()
