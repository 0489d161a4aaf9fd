"""manage.py check_contracts: every way in which a chain can differ is found and told in one line."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from sweepapi import chains
from sweepapi.evm.abi import Function
from sweepapi.evm.chains import Chain
from sweepapi.evm.deployment.code import record_of
from sweepapi.evm.deployment.comparison import compare
from sweepapi.evm.deployment.roles import ADMIN
from sweepapi.evm.deployment.specification import MANAGER, V4, V5, deployed
from sweepapi.evm.routes.finder import swaps
from sweepapi.evm.rpc import ProviderPool
from sweepapi.evm.signer import FeeSigner
from tests.administration import Administration
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain

KEYS = {V5: "v5", V4: "v4", MANAGER: "accessManager"}
STRANGER = "0x000000000000000000000000000000000000bEEF"
SWAP_UNTIL = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))"  # listable, not ours
EXACT_INPUT = Function("exactInput((bytes,address,uint256,uint256))").selector
BOTH_MODES, ONE_MODE = "funding modes 0b11", "funding modes 0b01"
OWNER, CONFIGURATOR, GUARDIAN, OPS = 1, 2, 3, 4


@pytest.fixture
def administration(chain: LocalChain) -> Administration:
    return Administration(chain)


def check(*names: str) -> tuple[int, str, str]:
    """Run the command; returns its exit status and what it wrote."""
    out, err = StringIO(), StringIO()
    try:
        call_command("check_contracts", *names, stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def differences(local: Chain | None = None) -> list[str]:
    """Return what the status of the service sees."""
    chain = local or chains.known()["local"]
    at = deployed(chain)
    assert at is not None
    found = compare(specification=chains.specification(chain), at=at, pool=chains.pool(chain.chain_id))
    return [str(difference) for difference in found.differences]


def test_the_local_chain_is_as_configured(chain: LocalChain) -> None:
    assert chain.contracts
    assert check() == (0, "local: no differences\n", "")
    assert differences() == []


def test_the_present_costs_one_round_trip(chain: LocalChain, round_trips: list[list[str]]) -> None:
    assert chain.contracts
    differences()
    assert [method for method in round_trips[0] if method != "eth_chainId"] == [
        "eth_getBlockByNumber",
        *["eth_getCode"] * 3,
        "eth_call",
    ]
    assert len(round_trips) == 1


# --- every kind of difference -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A change of the chain, as a call of a role's holder, and the lines that must tell it."""

    by: str  # "guardian" at once, "owner" after the delay
    contract: str
    signature: str
    arguments: Callable[[LocalChain], tuple[object, ...]]
    lines: tuple[str, ...]
    seen_by_status: bool = True


def router(chain: LocalChain) -> str:
    return chain.contracts["swapRouter02"]


def holder(chain: LocalChain, role: str) -> str:
    address: str = chain.world["roles"][role]["address"]
    return address


CHANGES = {
    "V5 paused": Change("guardian", V5, "pause()", lambda _: (), (f"{V5} paused / no / yes",)),
    "V4 paused": Change("guardian", V4, "pause()", lambda _: (), (f"{V4} paused / no / yes",)),
    "a pair missing": Change(
        "guardian",
        V5,
        "removeRouter(address,bytes4)",
        lambda chain: (router(chain), EXACT_INPUT),
        (f"{V5} allows exactInput 0xb858183f of ROUTER / funding modes 0b11, spender ROUTER / no",),
    ),
    "a pair too many": Change(
        "owner",
        V4,
        "allowRouter(address,bytes4,uint8,address)",
        lambda chain: (router(chain), Function(SWAP_UNTIL).selector, 3, router(chain)),
        (f"{V4} allows 0x414bf389 of ROUTER / no / funding modes 0b11, spender ROUTER",),
    ),
    "a pair on other terms": Change(
        "owner",
        V5,
        "allowRouter(address,bytes4,uint8,address)",
        lambda chain: (router(chain), EXACT_INPUT, 1, chain.contracts["quoterV2"]),
        (f"{V5} allows exactInput 0xb858183f of ROUTER / {BOTH_MODES}, spender ROUTER / {ONE_MODE}, spender QUOTER",),
    ),
    "another fee signer": Change(
        "owner",
        V5,
        "setFeeSigner(address,uint32)",
        lambda _: (STRANGER, 3600),
        (f"{V5} fee signer / SIGNER / {STRANGER}", f"{V5} previous fee signer / none / SIGNER until "),
    ),
    "a fee signer revoked": Change(
        "guardian",
        V5,
        "revokeFeeSigner(address)",
        lambda _: (chains.fee_signer().address,),
        (f"{V5} fee signer / SIGNER / 0x0000000000000000000000000000000000000000",),
    ),
    "another fee": Change(
        "owner",
        V4,
        "setFee(uint16,address)",
        lambda chain: (76, holder(chain, "ops")),
        (f"{V4} fee in bps / 75 / 76", f"{V4} fee recipient / RECIPIENT / OPS"),
    ),
    "a function of another role": Change(
        "owner",
        MANAGER,
        "setTargetFunctionRole(address,bytes4[],uint64)",
        lambda chain: (chain.contracts["v5"], [Function("allowRouter(address,bytes4,uint8,address)").selector], OWNER),
        (f"role of {V5}.allowRouter / configurator (2) / owner (1)",),
    ),
    "a function opened to all": Change(
        "owner",
        MANAGER,
        "setTargetFunctionRole(address,bytes4[],uint64)",
        lambda chain: (chain.contracts["v4"], [Function("rescue(address,address,uint256)").selector], 2**64 - 1),
        (f"role of {V4}.rescue / owner (1) / unnamed (18446744073709551615)",),
    ),
    "a role for what is no function": Change(
        "owner",
        MANAGER,
        "setTargetFunctionRole(address,bytes4[],uint64)",
        lambda chain: (chain.contracts["v5"], [b"\xde\xad\xbe\xef"], OPS),
        ("role of 0xdeadbeef of V5ADDRESS / admin (0) / ops (4)",),
        seen_by_status=False,
    ),
    "another holder": Change(
        "owner",
        MANAGER,
        "grantRole(uint64,address,uint32)",
        lambda _: (CONFIGURATOR, STRANGER, 0),
        (f"{STRANGER} holds configurator (2) / no / yes, delay 0 s, since ",),
        seen_by_status=False,
    ),
    "another admin": Change(
        "owner",
        MANAGER,
        "grantRole(uint64,address,uint32)",
        lambda _: (0, STRANGER, 5),
        (f"{STRANGER} holds admin (0) / no / yes, delay 5 s, since ",),
        seen_by_status=False,
    ),
    "a holder less": Change(
        "owner",
        MANAGER,
        "revokeRole(uint64,address)",
        lambda chain: (GUARDIAN, holder(chain, "guardian")),
        ("GUARDIAN holds guardian (3) / yes, delay 0 s / no",),
    ),
    "a holder's longer delay": Change(
        "owner",
        MANAGER,
        "grantRole(uint64,address,uint32)",
        lambda chain: (GUARDIAN, holder(chain, "guardian"), 60),
        ("GUARDIAN holds guardian (3) / yes, delay 0 s / yes, delay 60 s, since ",),
    ),
    "a holder's delay that ends": Change(
        "owner",
        MANAGER,
        "grantRole(uint64,address,uint32)",
        lambda chain: (CONFIGURATOR, holder(chain, "owner"), 0),
        ("OWNER holds configurator (2) / yes, delay 172800 s / yes, delay 172800 s, 0 s from ",),
    ),
    "another guardian of a role": Change(
        "owner",
        MANAGER,
        "setRoleGuardian(uint64,uint64)",
        lambda _: (CONFIGURATOR, OPS),
        ("guardian of configurator (2) / guardian (3) / ops (4)",),
    ),
    "another admin of a role": Change(
        "owner",
        MANAGER,
        "setRoleAdmin(uint64,uint64)",
        lambda _: (GUARDIAN, OPS),
        ("admin of guardian (3) / admin (0) / ops (4)",),
    ),
    "a closed target": Change(
        "owner",
        MANAGER,
        "setTargetClosed(address,bool)",
        lambda chain: (chain.contracts["v5"], True),
        (f"{V5} closed / no / yes",),
    ),
    "another authority": Change(
        "owner",
        MANAGER,
        "updateAuthority(address,address)",
        lambda chain: (chain.contracts["v5"], router(chain)),
        (f"{V5} authority / MANAGERADDRESS / ROUTER",),
    ),
}


def named(line: str, chain: LocalChain) -> str:
    """Put the local world's addresses into a line."""
    addresses = {
        "ROUTER": router(chain),
        "QUOTER": chain.contracts["quoterV2"],
        "SIGNER": chains.fee_signer().address,
        "RECIPIENT": str(chains.known()["local"].protocol_recipient),
        "MANAGERADDRESS": chain.contracts["accessManager"],
        "V5ADDRESS": chain.contracts["v5"],
        **{role.upper(): holder(chain, role) for role in ("owner", "guardian", "ops")},
    }
    for name, address in addresses.items():
        line = line.replace(name, address)
    return line


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_change_on_the_chain_is_told_in_a_line_and_by_the_exit_status(
    chain: LocalChain, administration: Administration, name: str
) -> None:
    change = CHANGES[name]
    contract, function, arguments = KEYS[change.contract], Function(change.signature), change.arguments(chain)
    if change.by == "guardian":
        administration.call(administration.guardian, contract, function, *arguments)
    else:
        administration.after_the_delay(contract, function, *arguments)
    lines = [named(line, chain) for line in change.lines]
    status, out, _ = check("local")
    told = [line.removeprefix("local: ") for line in out.splitlines()]
    assert status == 1
    assert told[-1] == f"{len(lines)} differences"
    assert all(any(line.startswith(expected) for line in told) for expected in lines), told
    assert bool(differences()) == change.seen_by_status


@pytest.mark.parametrize(
    ("signature", "arguments", "line"),
    [
        ("setGrantDelay(uint64,uint32)", (OPS, 60), "grant delay of ops (4) in seconds / 0 / 60"),
        ("setGrantDelay(uint64,uint32)", (ADMIN, 60), "grant delay of admin (0) in seconds / 0 / 60"),
        ("setTargetAdminDelay(address,uint32)", (V5, 60), f"{V5} admin delay in seconds / 0 / 60"),
    ],
)
def test_a_delay_that_the_manager_sets_back_is_told_once_it_counts(
    chain: LocalChain, administration: Administration, signature: str, arguments: tuple[Any, ...], line: str
) -> None:
    first = chain.contracts["v5"] if arguments[0] == V5 else arguments[0]
    administration.after_the_delay("accessManager", Function(signature), first, *arguments[1:])
    assert differences() == []
    chain.mine(seconds=5 * 86_400)
    assert differences() == [line]


def test_a_holder_whose_role_has_not_begun_is_told(chain: LocalChain, administration: Administration) -> None:
    guardian = holder(chain, "guardian")
    administration.after_the_delay(KEYS[MANAGER], Function("setGrantDelay(uint64,uint32)"), GUARDIAN, 60)
    chain.mine(seconds=5 * 86_400)
    administration.after_the_delay(KEYS[MANAGER], Function("revokeRole(uint64,address)"), GUARDIAN, guardian)
    administration.after_the_delay(KEYS[MANAGER], Function("grantRole(uint64,address,uint32)"), GUARDIAN, guardian, 0)
    grant = f"{guardian} holds guardian (3) / yes, delay 0 s / yes, delay 0 s, since "
    assert [line.startswith(grant) for line in differences()] == [False, True]
    chain.mine(seconds=60)
    assert len(differences()) == 1, "but for the delay of grants"


@pytest.mark.parametrize("name", [V5, V4, MANAGER])
def test_a_single_other_byte_of_code_is_told(chain: LocalChain, name: str) -> None:
    address = chain.contracts[KEYS[name]]
    code = bytearray.fromhex(chain.rpc("eth_getCode", address, "latest")[2:])
    code[-1] ^= 1
    chain.put_code(address, code.hex())
    line = f"local: {name} code, immutables masked / {record_of(name).runtime_code_hash} / 0x"
    status, out, _ = check("local")
    assert status == 1
    assert line in out
    assert any(difference.startswith(f"{name} code") for difference in differences())


@pytest.mark.parametrize(
    ("name", "immutable", "place"),
    [
        (name, immutable, place)
        for name in (V5, V4)
        for immutable, places in record_of(name).immutables.items()
        for place in range(len(places))
    ],
)
def test_another_value_at_any_place_of_an_immutable_is_told(
    chain: LocalChain, name: str, immutable: str, place: int
) -> None:
    address = chain.contracts[KEYS[name]]
    code = bytearray.fromhex(chain.rpc("eth_getCode", address, "latest")[2:])
    code[record_of(name).immutables[immutable][place] + 31] ^= 1
    chain.put_code(address, code.hex())
    assert any(difference.startswith(f"{name} immutable {immutable} / 0x") for difference in differences())


@pytest.mark.parametrize("name", [V5, V4])
def test_a_contract_that_burns_all_gas_or_fails_is_told_in_short_lines_that_stay_the_same(
    chain: LocalChain, name: str
) -> None:
    for code in ("fe", "60006000fd", "600160005260206000f3", "62fffff06000f3"):  # invalid, revert, one, a megabyte
        chain.put_code(chain.contracts[KEYS[name]], code)
        found = differences()
        chain.mine(seconds=1)
        assert differences() == found
        assert found[0].startswith(f"{name} code, immutables masked / ")
        assert all(len(line) < 400 for line in found)


@pytest.mark.parametrize("name", [V5, V4, MANAGER])
def test_of_an_address_without_code_only_that_is_told(chain: LocalChain, name: str) -> None:
    chain.put_code(chain.contracts[KEYS[name]], "")
    found = differences()
    assert found[0].endswith("/ no code")
    assert name == MANAGER or len(found) == 1


@pytest.mark.parametrize(
    ("facts", "lines"),
    [
        ({"v4_fee_bps": 80}, [f"{V4} fee in bps / 80 / 75"]),
        ({"protocol_recipient": STRANGER}, [f"{V4} fee recipient / {STRANGER} / RECIPIENT"]),
        ({"previous_fee_signer": STRANGER}, []),
    ],
)
def test_a_change_of_the_configuration_is_told(chain: LocalChain, facts: dict[str, Any], lines: list[str]) -> None:
    local = replace(chains.known()["local"], **facts)
    assert differences(local) == [named(line, chain) for line in lines]


def test_a_holder_that_was_added_to_the_configuration_is_missing_on_the_chain(chain: LocalChain) -> None:
    local = chains.known()["local"]
    holders = {**local.role_holders, "ops": (holder(chain, "ops"), STRANGER)}
    assert differences(replace(local, role_holders=holders)) == [f"{STRANGER} holds ops (4) / yes, delay 0 s / no"]


@pytest.mark.parametrize("fact", ["wrapped_native", "permit2"])
def test_contracts_bound_to_another_contract_than_the_configured_are_told(chain: LocalChain, fact: str) -> None:
    changed: dict[str, Any] = {fact: router(chain)}
    found = differences(replace(chains.known()["local"], **changed))
    for name in (V5, V4):
        assert any(line.startswith(f"{name} {fact.upper()} / {router(chain)} / ") for line in found)
        assert any(line.startswith(f"{name} immutable {fact.upper()} / ") for line in found)


def test_a_contract_of_another_chain_id_is_told(chain: LocalChain, monkeypatch: pytest.MonkeyPatch) -> None:
    local = chains.known()["local"]
    pool = chains.pool(local.chain_id)
    monkeypatch.setattr(chains, "pool", lambda _chain_id: pool)
    assert chain.contracts
    found = differences(replace(local, chain_id=1))
    assert any(line.startswith(f"{V5} EIP-712 domain / ") for line in found)
    assert any(line.startswith(f"{V5} digest of an authorization / ") for line in found)
    assert any(line.startswith("Permit2 domain separator / ") for line in found)


def test_a_router_that_was_added_to_the_configuration_is_missing_on_the_chain(chain: LocalChain) -> None:
    local = chains.known()["local"]
    known = local.routers[0]
    second = replace(known, name="second", address=chain.contracts["quoterV2"])  # which has the same factory
    assert len(differences(replace(local, routers=(*local.routers, second)))) == 2 * len(swaps(known))


@pytest.mark.parametrize("kind", ["uniswap_v2", "uniswap_v3"])
def test_a_router_or_a_quoter_of_another_factory_than_the_configured_is_told(chain: LocalChain, kind: str) -> None:
    local = chains.known()["local"]
    (known,) = (each for each in local.routers if each.kind == kind)
    moved = replace(known, factory=STRANGER)
    others = [each for each in local.routers if each != known]
    assert chain.contracts
    assert differences(replace(local, routers=(*others, moved))) == [
        f"factory of {known.name}'s router / {STRANGER} / {known.factory}",
        f"factory of {known.name}'s quoter / {STRANGER} / {known.factory}",
    ]


# --- a rotation -------------------------------------------------------------------------------------------------------


def test_a_known_previous_signer_is_no_difference_and_an_expired_one_neither(
    chain: LocalChain, administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, successor = chains.fee_signer(), FeeSigner("0x" + "03" * 32)
    administration.after_the_delay("v5", Function("setFeeSigner(address,uint32)"), successor.address, 3600)
    monkeypatch.setattr(chains, "fee_signer", lambda: successor)
    (line,) = differences()
    assert line.startswith(f"{V5} previous fee signer / none / {former.address} until ")
    assert differences(replace(chains.known()["local"], previous_fee_signer=former.address)) == []
    chain.mine(seconds=3600)
    assert differences() == [], "the contract takes it before that second only"


# --- the past ---------------------------------------------------------------------------------------------------------


def test_what_is_scheduled_is_told_and_no_difference(administration: Administration) -> None:
    set_signer = Function("setFeeSigner(address,uint32)")
    administration.schedule("v5", set_signer, STRANGER, 0)
    status, out, _ = check("local")
    owner, v5 = administration.owner.address, administration.chain.contracts["v5"]
    assert status == 0
    assert f"local: scheduled: {owner} calls {v5} with 0x{set_signer.encode(STRANGER, 0).hex()}, from " in out


def test_the_guardian_cancels_what_a_configurator_scheduled_with_just_what_was_told(
    administration: Administration,
) -> None:
    administration.schedule("v5", Function("setFeeSigner(address,uint32)"), STRANGER, 0)
    (line, _) = check("local")[1].splitlines()
    caller, _, target, _, data = line.partition("scheduled: ")[2].partition(",")[0].split()
    cancel = Function("cancel(address,address,bytes)")
    administration.call(administration.guardian, "accessManager", cancel, caller, target, bytes.fromhex(data[2:]))
    assert check("local")[1] == "local: no differences\n"


def test_a_holder_is_found_through_a_provider_that_gives_few_blocks_at_once(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    grant = Function("grantRole(uint64,address,uint32)")
    administration.after_the_delay("accessManager", grant, GUARDIAN, STRANGER, 0)
    stingy = start_node()

    def few_blocks(method: str, params: list[Any], result: Any) -> Any:
        many = method == "eth_getLogs" and int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) > 10
        return None if many else result

    stingy.alter = few_blocks
    use_providers(stingy.url, timeout_seconds=10)
    status, out, _ = check("local")
    assert status == 1
    assert f"{STRANGER} holds guardian (3) / no / yes" in out


def test_a_provider_cannot_hide_a_holder_that_another_one_shows(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    grant = Function("grantRole(uint64,address,uint32)")
    administration.after_the_delay("accessManager", grant, GUARDIAN, STRANGER, 0)
    liar = start_node()
    liar.alter = lambda method, _params, result: [] if method == "eth_getLogs" else result
    use_providers(liar.url)
    assert check("local")[0] == 3, "the logs of what does hold are missing, too"
    use_providers(liar.url, administration.chain.world["rpcUrl"])
    assert check("local")[0] == 1


def test_a_provider_that_stays_in_the_past_cannot_hide_what_another_one_shows(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    stuck = start_node()
    remembered: dict[str, Any] = {}

    def as_at_first(method: str, params: list[Any], result: Any) -> Any:
        return remembered.setdefault(str((method, params)), result) if method == "eth_call" else result

    stuck.alter = as_at_first
    use_providers(stuck.url)
    assert check("local")[0] == 0
    administration.call(administration.guardian, "v5", Function("pause()"))
    assert check("local")[0] == 0, "nobody else is asked"
    use_providers(stuck.url, administration.chain.world["rpcUrl"])
    paused = f"local: {V5} paused / no / yes (by 1 of 2 providers)\nlocal: 1 differences\n"
    assert check("local") == (1, paused, "")


def test_a_block_of_deployment_that_is_too_late_is_no_agreement(
    chain: LocalChain, change_chain: Callable[..., Chain]
) -> None:
    change_chain(deployed_at_block=chain.web3.eth.block_number)
    status, out, err = check("local")
    assert (status, out) == (3, "")
    assert "lack grants that apply" in err


def test_what_differs_now_is_told_though_nobody_gives_the_logs(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    administration.call(administration.guardian, "v5", Function("pause()"))
    silent = start_node()
    silent.alter = lambda method, _params, result: None if method == "eth_getLogs" else result
    use_providers(silent.url)
    status, out, _ = check("local")
    assert status == 1
    assert f"local: {V5} paused / no / yes\nlocal: logs of the access manager / all / no provider serves" in out


@pytest.mark.parametrize("many", [10, 100])
def test_a_range_that_a_provider_answers_with_an_http_error_is_asked_for_in_parts(
    administration: Administration,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
    many: int,
) -> None:
    grant = Function("grantRole(uint64,address,uint32)")
    administration.after_the_delay("accessManager", grant, GUARDIAN, STRANGER, 0)
    overloaded = start_node()

    def is_long(request: dict[str, Any]) -> bool:
        fields = request["params"][0] if request["method"] == "eth_getLogs" else {}
        return bool(fields) and int(fields["toBlock"], 16) - int(fields["fromBlock"], 16) > many

    overloaded.refuse = lambda batch: any(is_long(request) for request in batch)
    use_providers(overloaded.url, timeout_seconds=10)
    assert check("local")[0] == 1


def test_a_scheduled_call_of_an_impossible_length_is_no_answer(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    administration.schedule("v5", Function("setFeeSigner(address,uint32)"), STRANGER, 0)
    odd = start_node()
    length = f"{128:064x}"  # as the offset of the call's data; what follows it is how long they are

    def endless(method: str, _params: list[Any], result: Any) -> Any:
        for log in result if method == "eth_getLogs" else ():
            log["data"] = log["data"].replace(length, length + "f" * 64)
        return result

    odd.alter = endless
    use_providers(odd.url)
    assert check("local")[0] == 3


@pytest.mark.parametrize("nonsense", [[{"topics": []}], [7], "0x", {"address": STRANGER}])
def test_logs_that_are_none_are_no_answer(
    chain: LocalChain,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
    nonsense: Any,
) -> None:
    assert chain.contracts
    odd = start_node()
    odd.alter = lambda method, _params, result: nonsense if method == "eth_getLogs" else result
    use_providers(odd.url)
    assert check("local")[0] == 3


# --- exit statuses ----------------------------------------------------------------------------------------------------


def test_a_chain_that_does_not_answer_has_a_status_of_its_own(no_providers: ProviderPool) -> None:
    assert no_providers.providers
    status, out, err = check("local")
    assert (status, out) == (3, "")
    assert err == "local: <provider 0 of chain 31337>: no provider answered in time\n"


def test_a_difference_weighs_more_than_a_chain_that_does_not_answer(
    chain: LocalChain,
    administration: Administration,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    local = chains.known()["local"]
    silent = ProviderPool.of_urls(urls=["http://127.0.0.1:1"], chain_id=2, timeout_seconds=1)
    pools = {local.chain_id: chains.pool(local.chain_id), 2: silent}
    monkeypatch.setattr(chains, "enabled", lambda: (replace(local, name="silent", chain_id=2), local))
    monkeypatch.setattr(chains, "pool", pools.__getitem__)
    assert chain.contracts
    assert check()[0] == 3
    administration.call(administration.guardian, "v5", Function("pause()"))
    assert check()[0] == 1


def test_a_chain_that_is_not_deployed_to_is_left_out_unless_it_is_named(
    chain: LocalChain, change_chain: Callable[..., Chain]
) -> None:
    assert chain.contracts
    change_chain(v5_contract=None)
    assert check("local") == (2, "", "local: chain 'local' has no contracts\n")
    with pytest.raises(CommandError, match="Nothing is checked") as refusal:
        check()
    assert refusal.value.returncode == 2


def test_a_chain_of_which_the_file_says_too_little_keeps_no_other_from_being_checked(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = chains.known()["local"]
    monkeypatch.setattr(chains, "enabled", lambda: (replace(local, name="vague", v4_fee_bps=None), local))
    assert check() == (2, "local: no differences\n", "vague: chain 'vague' needs: v4_fee_bps\n")
    administration.call(administration.guardian, "v5", Function("pause()"))
    assert check()[0] == 1


def test_an_unknown_chain_is_no_difference(chain: LocalChain) -> None:
    assert chain.contracts
    with pytest.raises(CommandError, match="RPC_URLS_MARS") as refusal:
        check("mars")
    assert refusal.value.returncode == 2
