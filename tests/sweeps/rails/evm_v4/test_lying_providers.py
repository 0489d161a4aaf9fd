"""A provider that lies about an execution neither completes a sweep nor makes anything payable."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from indexer import checks
from ledger.balances import balance_of
from partners.models import Partner
from sweepapi.evm.contracts.v4 import EXECUTED_TOPIC
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep
from tests.factories.ledger import random_hash
from tests.factories.sweeps import LOCAL
from tests.fake_node import FakeNode, unaltered
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

UseProviders = Callable[..., ProviderPool]

WORD = 64  # hex digits
GROSS, FEE, USER = 2, 3, 4  # words of the event's data


@pytest.fixture
def liar(
    start_node: Callable[[], FakeNode], use_providers: UseProviders, use_mode: Callable[[str], object]
) -> FakeNode:
    """The first of two providers, while the service builds on V4; the second one is honest."""
    first, second = start_node(), start_node()
    use_providers(first.url, second.url)
    use_mode("v4_fallback")
    return first


@pytest.fixture
def outvoted_liar(liar: FakeNode, start_node: Callable[[], FakeNode], use_providers: UseProviders) -> FakeNode:
    """The first of three providers; the two others are honest."""
    use_providers(liar.url, start_node().url, start_node().url)
    return liar


def thousandfold(receipt: dict[str, Any]) -> dict[str, Any]:
    """Return the receipt with the amounts of its ``SweepExecutedV4`` multiplied; they still follow the formula."""

    def inflate(log: dict[str, Any]) -> dict[str, Any]:
        if log["topics"][0] != EXECUTED_TOPIC:
            return log
        data = log["data"][2:]
        words = [data[start : start + WORD] for start in range(0, len(data), WORD)]
        gross = 1_000 * int(words[GROSS], 16)
        fee = gross * 75 // 10_000
        words[GROSS], words[FEE], words[USER] = (f"{amount:0{WORD}x}" for amount in (gross, fee, gross - fee))
        return log | {"data": "0x" + "".join(words)}

    return receipt | {"logs": [inflate(log) for log in receipt["logs"]]}


def look(sweep_id: str) -> Sweep:
    """Have the worker check now, and return the stored sweep."""
    Sweep.objects.filter(id=sweep_id).update(next_check_at=timezone.now() - timedelta(minutes=1))
    checks.check_due()
    return Sweep.objects.get(id=sweep_id)


def available(app: PartnerApp, partner: Partner) -> int:
    balance = balance_of(partner, network=LOCAL, asset=app.chain.token("WETH").address)
    return 0 if balance is None else balance.available


def test_amounts_that_one_provider_made_up_never_become_payable(
    app: PartnerApp, partner: Partner, liar: FakeNode
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    liar.alter = lambda method, _params, result: (
        thousandfold(result) if method == "eth_getTransactionReceipt" and result else result
    )
    assert app.confirm(built, tx_hash, status=202)["awaits"] == "agreement"
    app.chain.mine(FINAL_AFTER)
    assert look(built["sweepId"]).status == "pending"
    assert available(app, partner) == 0

    liar.alter = unaltered
    assert look(built["sweepId"]).status == "completed"
    assert not look(built["sweepId"]).is_open
    actual = app.state(built["sweepId"])["feeAuthorization"]["actualFees"]
    assert int(actual["grossOutput"]) == int(built["estimatedOutput"]["gross"])
    assert available(app, partner) == int(actual["partnerFee"])


def test_an_execution_that_one_provider_made_up_never_becomes_payable(
    app: PartnerApp, partner: Partner, liar: FakeNode
) -> None:
    built = app.build()
    assert app.confirm(built, invent(app, built, liar), status=202)["status"] == "pending"
    app.chain.mine(FINAL_AFTER)
    sweep = look(built["sweepId"])
    assert (sweep.status, sweep.is_open) == ("pending", True)
    assert available(app, partner) == 0


def invent(app: PartnerApp, built: dict[str, Any], liar: FakeNode) -> str:
    """Have a node show the execution of a sweep that did not happen, in a block that exists; return its hash."""
    mined = app.chain.rpc("eth_getTransactionReceipt", app.execute(app.build()))
    invented, reference = random_hash(), built["permit2"]["message"]["witness"]["sweepRef"]
    logs = [
        log | {"topics": [log["topics"][0], reference, log["topics"][2]], "transactionHash": invented}
        if log["topics"][0] == EXECUTED_TOPIC
        else log | {"transactionHash": invented}
        for log in mined["logs"]
    ]
    made_up = mined | {"transactionHash": invented, "logs": logs}
    liar.alter = lambda _method, params, result: made_up if params == [invented] else result
    return invented


def test_an_execution_that_one_of_three_providers_made_up_never_completes_the_sweep(
    app: PartnerApp, partner: Partner, outvoted_liar: FakeNode
) -> None:
    built = app.build()
    assert app.confirm(built, invent(app, built, outvoted_liar), status=202)["status"] == "pending"
    app.chain.mine(FINAL_AFTER)
    for _ in range(3):  # the liar still says the same, and is asked after the others
        sweep = look(built["sweepId"])
        assert (sweep.status, sweep.is_open) == ("pending", True)
    app.confirm(built, app.execute(built))  # reads the two others: who was outvoted comes last
    app.chain.mine(FINAL_AFTER)
    sweep = look(built["sweepId"])
    assert (sweep.status, sweep.is_open) == ("completed", False)
    assert available(app, partner) == int(app.state(built["sweepId"])["feeAuthorization"]["actualFees"]["partnerFee"])


def test_amounts_that_one_of_three_providers_made_up_are_corrected_by_the_two_others(
    app: PartnerApp, partner: Partner, outvoted_liar: FakeNode
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    outvoted_liar.alter = lambda method, _params, result: (
        thousandfold(result) if method == "eth_getTransactionReceipt" and result else result
    )
    assert app.confirm(built, tx_hash, status=202)["awaits"] == "agreement"
    app.chain.mine(FINAL_AFTER)
    assert look(built["sweepId"]).status == "completed", "as the two others show it"
    assert not look(built["sweepId"]).is_open
    actual = app.state(built["sweepId"])["feeAuthorization"]["actualFees"]
    assert int(actual["grossOutput"]) == int(built["estimatedOutput"]["gross"])
    assert available(app, partner) == int(actual["partnerFee"])
