"""What a build says of the cost of each way to execute it is what its user pays."""

from typing import Any

import pytest

from sweepapi.evm.tokens.erc20 import APPROVE
from tests.local_chain import PERMIT2
from tests.partner_app import PartnerApp
from tests.wallets import delegate, deployed, executions_of, gas_used, send, send_calls

pytestmark = pytest.mark.django_db

FOUR: dict[str, float] = {"USDC": 30, "DAI": 20, "LINK": 1, "UNI": 4}
READY = {"execution": {"wallet": {"atomic": "ready"}}}


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def paid(app: PartnerApp, execution: dict[str, Any], *, upgrade_to: str | None = None) -> int:
    since = app.chain.web3.eth.block_number
    if execution["kind"] == "calls":
        send_calls(app.chain, app.user, execution, upgrade_to=upgrade_to)
    else:
        send(app.chain, app.user, execution)
    return gas_used(app.chain, app.user, since=since)


def assert_as_promised(execution: dict[str, Any], used: int) -> None:
    """Fail unless the gas of a way is what it used; what a trial measured as it is sent, to a thousandth."""
    promised = int(execution["gas"])
    parts = 100 if execution["kind"] in ("permit2", "permits") else 1_000
    assert abs(promised - used) * parts <= used, f"{execution['kind']}: {promised} promised, {used} used"


@pytest.mark.parametrize("kind", ["transactions", "permit2", "calls"])
@pytest.mark.parametrize("output", ["WETH", "GUSD"])
def test_the_gas_of_a_way_is_what_receipts_show(app: PartnerApp, kind: str, output: str) -> None:
    built = app.build(FOUR, output=output, **READY)
    execution = executions_of(built)[kind]
    assert_as_promised(execution, paid(app, execution, upgrade_to=deployed(app.chain, "BatchAccount")))


@pytest.mark.parametrize("approvals", ["exact", "unlimited"])
def test_permits_cost_what_is_estimated(app: PartnerApp, approvals: str) -> None:
    built = app.build({"USDC": 30, "UNI": 4}, output="WETH", approvals=approvals, **READY)
    execution = executions_of(built)["permits"]
    assert execution["estimated"]
    assert_as_promised(execution, paid(app, execution))


@pytest.mark.parametrize("kind", ["transactions", "permit2", "calls"])
def test_allowances_that_are_there_are_neither_given_nor_counted(app: PartnerApp, kind: str) -> None:
    built = app.build(FOUR, output="WETH", **READY)
    for spender in (PERMIT2, built["contractAddress"]):
        for symbol, amount in (("DAI", 10**30), ("LINK", 10**18)):
            call = {"to": app.chain.token(symbol).address, "data": "0x" + APPROVE.encode(spender, amount).hex()}
            assert app.chain.receipt(app.chain.send(app.user, call))["status"] == 1
    execution = executions_of(app.build(FOUR, output="WETH", **READY))[kind]
    assert_as_promised(execution, paid(app, execution, upgrade_to=deployed(app.chain, "BatchAccount")))


def test_the_code_of_a_delegated_account_is_measured(app: PartnerApp) -> None:
    delegate(app.chain, app.user, deployed(app.chain, "SigningBatchAccount"))
    execution = executions_of(app.build(FOUR, output="WETH", **READY))["calls"]
    assert not execution["estimated"]
    assert_as_promised(execution, paid(app, execution))
