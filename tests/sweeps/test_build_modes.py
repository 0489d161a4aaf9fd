"""Each chain is built on in its own mode, and its availability is that of the mode's contract."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.abi import Function
from sweepapi.networks import Networks
from sweeps.rails.registry import FALLBACK
from tests.administration import Administration
from tests.local_chain import LocalChain
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unmeasured")]

Change = Callable[[Administration], object]
StatusIn = Callable[[str], dict[str, Any]]

V5_MODE = "v5_partner_fees"
BURNS_ALL_GAS = "fe"
CONFIGURATOR, OPS = 2, 4
YES = True
PAUSE = Function("pause()")
SET_FEE = Function("setFee(uint16,address)")
SET_TARGET_CLOSED = Function("setTargetClosed(address,bool)")
SET_ROLE_GUARDIAN = Function("setRoleGuardian(uint64,uint64)")


def status(anonymous: Client) -> dict[str, Any]:
    response = anonymous.get("/v2/status")
    assert_documented(response, path="/v2/status")
    data: dict[str, Any] = response.json()["data"]
    return data


@pytest.fixture
def status_in(anonymous: Client, change_networks: Callable[..., Networks]) -> StatusIn:
    """Return the status while the local chain is in a mode."""

    def read(mode: str) -> dict[str, Any]:
        change_networks(build_modes={"local": mode})
        return status(anonymous)

    return read


def pause(contract: str) -> Change:
    return lambda by: by.call(by.guardian, contract, PAUSE)


def close(contract: str) -> Change:
    return lambda by: by.after_the_delay("accessManager", SET_TARGET_CLOSED, by.chain.contracts[contract], YES)


def put_code(contract: str, code: str) -> Change:
    return lambda by: by.chain.put_code(by.chain.contracts[contract], code)


def revoke_fee_signer(by: Administration) -> None:
    by.chain.revoke_fee_signer(networks.current().fee_signer.address)


def change_fee(by: Administration) -> None:
    by.after_the_delay("v4", SET_FEE, 76, str(networks.current().chains["local"].protocol_recipient))


def change_guardian_of_a_role(by: Administration) -> None:
    by.after_the_delay("accessManager", SET_ROLE_GUARDIAN, CONFIGURATOR, OPS)


@pytest.mark.parametrize(
    ("change", "modes"),
    [
        pytest.param(lambda _: None, {V5_MODE, FALLBACK}, id="nothing"),
        pytest.param(pause("v5"), {FALLBACK}, id="V5 is paused"),
        pytest.param(pause("v4"), {V5_MODE}, id="V4 is paused"),
        pytest.param(close("v5"), {FALLBACK}, id="V5 is closed by the access manager"),
        pytest.param(close("v4"), {V5_MODE}, id="V4 is closed by the access manager"),
        pytest.param(revoke_fee_signer, {FALLBACK}, id="the fee signer is revoked"),
        pytest.param(change_fee, {V5_MODE}, id="the fee of V4 is changed"),
        pytest.param(put_code("v5", ""), {FALLBACK}, id="V5 has no code"),
        pytest.param(put_code("v4", ""), {V5_MODE}, id="V4 has no code"),
        pytest.param(put_code("v5", BURNS_ALL_GAS), {FALLBACK}, id="V5 is a contract that burns all gas"),
        pytest.param(put_code("v4", BURNS_ALL_GAS), {V5_MODE}, id="V4 is a contract that burns all gas"),
        pytest.param(put_code("accessManager", ""), set(), id="the access manager has no code"),
        pytest.param(put_code("uniswapV2Router", ""), set(), id="a router has no code"),
        pytest.param(change_guardian_of_a_role, set(), id="a role has another guardian"),
    ],
)
def test_a_chain_is_available_in_the_modes_whose_contract_is_as_configured(
    status_in: StatusIn, chain: LocalChain, change: Change, modes: set[str]
) -> None:
    change(Administration(chain))
    for mode in (V5_MODE, FALLBACK):
        data = status_in(mode)
        (local,) = data["chains"]
        assert (local["buildMode"], local["available"], data["available"]) == (mode, mode in modes, mode in modes)


def test_both_contracts_are_measured_in_one_round_trip(
    status_in: StatusIn, chain: LocalChain, round_trips: list[list[str]]
) -> None:
    assert chain.contracts
    assert status_in(V5_MODE)["available"] is status_in(FALLBACK)["available"] is True
    assert len(round_trips) == 1


def test_what_differs_about_the_contract_of_the_other_mode_is_still_logged(
    anonymous: Client, chain: LocalChain, caplog: pytest.LogCaptureFixture
) -> None:
    pause("v4")(Administration(chain))
    assert status(anonymous)["available"] is True
    (logged,) = [record for record in caplog.records if "contracts_differ" in record.getMessage()]
    assert "ServiceBatchV4 paused / no / yes" in logged.getMessage()


def test_the_status_shows_the_default_mode_and_that_of_each_chain(
    anonymous: Client, two_chains: tuple[Chain, ...], change_networks: Callable[..., Networks]
) -> None:
    change_networks(default_build_mode=FALLBACK, build_modes={"arbitrum": V5_MODE})
    data = status(anonymous)
    assert data["evmBuildMode"] == FALLBACK
    assert {shown["name"]: shown["buildMode"] for shown in data["chains"]} == {"base": FALLBACK, "arbitrum": V5_MODE}
    assert [shown["name"] for shown in data["chains"]] == [listed.name for listed in two_chains]


@pytest.mark.parametrize(("default", "own"), [(V5_MODE, FALLBACK), (FALLBACK, V5_MODE)])
def test_a_chain_with_a_mode_of_its_own_is_built_on_in_that_mode(
    app: PartnerApp, change_networks: Callable[..., Networks], default: str, own: str
) -> None:
    change_networks(default_build_mode=default, build_modes={"local": own})
    assert app.build()["mode"] == own


def test_a_chain_is_rolled_back_while_v5_is_paused(app: PartnerApp, status_in: StatusIn) -> None:
    app.chain.pause()
    assert status_in(FALLBACK)["available"] is True
    assert app.build()["contractAddress"] == app.chain.contracts["v4"]
