"""Routes, contracts and roles agree on every function of the specification."""

import json
import re
from pathlib import Path

import pytest
from eth_utils.crypto import keccak

from sweepapi import networks
from sweepapi.evm.deployment.roles import ADMIN
from sweepapi.evm.deployment.specification import BATCHES, V4, V5, Specification
from sweepapi.evm.pools.finder import swap_call, swaps
from sweepapi.evm.pools.sources import SOURCES
from sweepapi.evm.pools.types import Hop, Route
from tests.local_chain import LocalChain

CONTRACTS = Path(__file__).parents[3] / "contracts"


@pytest.fixture
def local(chain: LocalChain) -> Specification:
    assert chain.contracts
    registry = networks.current()
    return registry.specification(registry.chains["local"])


def test_the_contracts_can_list_every_function_that_routes_call() -> None:
    listable = set(re.findall(r'keccak256\("([^"]+)"\)', (CONTRACTS / "src" / "SwapSelectors.sol").read_text()))
    assert len(listable) == 7
    for kind in SOURCES.values():
        assert {function.signature for function in kind.SWAPS} <= listable


@pytest.mark.parametrize("hops", [1, 2])
def test_the_allow_list_contains_every_function_that_routes_call(local: Specification, hops: int) -> None:
    weth = local.chain.wrapped_native
    for router in local.chain.routers:
        fee_tier = router.fee_tiers[0] if router.fee_tiers else None
        route = Route(router, tuple(Hop(weth, weth, fee_tier) for _ in range(hops)), ())
        call = swap_call(route, amount_in=1, min_output=1, recipient=weth)
        assert call[:4] in {function.selector for function in swaps(router)}
        assert (router.address, call[:4]) in {(each.router, each.function.selector) for each in local.allowed_calls}


def test_two_routers_at_one_address_list_each_function_once(local: Specification) -> None:
    assert len({router.address for router in local.chain.routers}) == 1
    assert len(local.allowed_calls) == len({each.function.selector for each in local.allowed_calls}) == 3


def test_the_roles_file_names_only_functions_of_the_contracts(local: Specification) -> None:
    functions = {function.signature for name in BATCHES for function, _ in local.function_roles(name)}
    for role in local.roles.listed:
        assert role.functions <= functions


def test_only_sweeps_and_set_authority_have_no_role(local: Specification) -> None:
    for name in BATCHES:
        without = {
            function.signature.partition("(")[0] for function, role in local.function_roles(name) if role == ADMIN
        }
        assert without == {"sweep", "sweepWithPermits", "sweepAsCaller", "setAuthority"}


@pytest.mark.parametrize("name", [V5, V4])
def test_every_state_changing_function_has_a_role_check(local: Specification, name: str) -> None:
    compiled = json.loads((CONTRACTS / "out" / f"{name}.sol" / f"{name}.json").read_text())
    changing = {
        signature
        for signature in compiled["methodIdentifiers"]
        if not any(
            entry["type"] == "function"
            and entry["name"] == signature.partition("(")[0]
            and entry["stateMutability"] in ("view", "pure")
            for entry in compiled["abi"]
        )
    }
    assert {function.signature for function, _ in local.function_roles(name)} == changing
    assert {function.selector.hex() for function, _ in local.function_roles(name)} == {
        keccak(text=signature)[:4].hex() for signature in changing
    }


def test_every_guardian_is_a_known_role(local: Specification) -> None:
    numbers = {ADMIN, *(role.number for role in local.roles.listed)}
    assert all(role.guardian in numbers for role in local.roles.listed)


def test_the_owner_is_admin_with_the_admin_delay(local: Specification) -> None:
    (owner,) = local.chain.role_holders["owner"]
    admins = [grant for grant in local.grants if grant.role == ADMIN]
    assert [(admin.account, admin.execution_delay_seconds) for admin in admins] == [(owner, 172_800)]
    assert local.grants[-1] == admins[0]
