"""manage.py check_contracts: every way in which a chain can differ is found and reported in one line."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from eth_account.messages import encode_defunct
from eth_account.signers.local import LocalAccount

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain, SaltRule
from sweepapi.evm.deployment.code import build_record
from sweepapi.evm.deployment.comparison import checks, compare
from sweepapi.evm.deployment.roles import ADMIN
from sweepapi.evm.deployment.scheduled import AnnouncedChange, ScheduledCall
from sweepapi.evm.deployment.specification import MANAGER, V4, V5, deployed
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools.finder import swaps
from sweepapi.evm.signers import LocalFeeSigner, SignerSettings
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from tests.administration import Administration
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain

KEYS = {V5: "v5", V4: "v4", MANAGER: "accessManager"}
STRANGER = "0x000000000000000000000000000000000000bEEF"
# The contracts would allow it, but no route of ours calls it.
SWAP_UNTIL = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))"
EXACT_INPUT = Function("exactInput((bytes,address,uint256,uint256))").selector
LIST_VENUE = "listVenue(uint16,(address,uint8,uint8,uint16,bytes4,bytes32))"
CODE_HASH = bytes(31) + b"\x01"
OWNER, CONFIGURATOR, GUARDIAN, OPS = 1, 2, 3, 4


@pytest.fixture
def administration(chain: LocalChain) -> Administration:
    return Administration(chain)


@pytest.fixture
def announce(
    administration: Administration, change_chain: Callable[..., Chain], settings: Any, tmp_path: Path
) -> Callable[..., None]:
    """Announce a call in the file of changes, signed by the guardian, who may, or by another."""

    def write(caller: str, target: str, data: bytes, signer: LocalAccount | None = None) -> None:
        local = change_chain(change_signers=(administration.guardian.address,))
        change = AnnouncedChange(ScheduledCall(caller, target, data), local.network, "A test.", "")
        signed = (signer or administration.guardian).sign_message(encode_defunct(text=change.message))
        settings.CHANGES_FILE = tmp_path / "changes.json"
        entry = replace(change, signature=f"0x{signed.signature.hex()}").as_json()
        settings.CHANGES_FILE.write_text(json.dumps([entry]))

    return write


def check(*names: str) -> tuple[int, str, str]:
    """Run the command; returns its exit status and output."""
    out, err = StringIO(), StringIO()
    try:
        call_command("check_contracts", *names, stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def differences(local: Chain | None = None, *, pool: ProviderPool | None = None) -> list[str]:
    """Return the differences that `/v2/status` sees."""
    registry = networks.current()
    chain = local or registry.chains["local"]
    at = deployed(chain)
    assert at is not None
    found = compare(specification=registry.specification(chain), at=at, pool=pool or registry.pool(chain.network))
    return [str(difference) for difference in found.differences]


def test_the_local_chain_matches_the_configuration(chain: LocalChain) -> None:
    assert chain.contracts
    assert check() == (0, "local: no differences\n", "")
    assert differences() == []


def test_comparing_the_state_takes_one_round_trip(chain: LocalChain, round_trips: list[list[str]]) -> None:
    assert chain.contracts
    differences()
    assert [method for method in round_trips[0] if method != "eth_chainId"] == [
        "eth_getBlockByNumber",
        *["eth_getCode"] * 3,
        *["eth_call"] * 3,
    ]
    assert len(round_trips) == 1


def test_a_difference_affects_only_the_contract_that_it_names(chain: LocalChain) -> None:
    registry = networks.current()
    local = registry.chains["local"]
    at = deployed(local)
    assert chain.contracts
    assert at is not None
    found = {
        difference.what: check.contract
        for check in checks(registry.specification(local), at)
        for difference in check.compare(None, 0)
    }
    assert set(found.values()) == {None, V5, V4}
    named = {what: next((name for name in (V5, V4) if name in what), None) for what in found}
    assert found == named


# --- every kind of difference -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A change on the chain by a role holder, and the lines that must report it."""

    by: str  # "guardian": at once, "owner": after the delay
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
    "an allowed call missing": Change(
        "guardian",
        V5,
        "removeRouter(address,bytes4)",
        lambda chain: (router(chain), EXACT_INPUT),
        (f"{V5} allows exactInput 0xb858183f of ROUTER / spender ROUTER / no",),
    ),
    "an extra allowed call": Change(
        "owner",
        V4,
        "allowRouter(address,bytes4,address)",
        lambda chain: (router(chain), Function(SWAP_UNTIL).selector, router(chain)),
        (f"{V4} allows 0x414bf389 of ROUTER / no / spender ROUTER",),
    ),
    "an allowed call with another spender": Change(
        "owner",
        V5,
        "allowRouter(address,bytes4,address)",
        lambda chain: (router(chain), EXACT_INPUT, chain.contracts["quoterV2"]),
        (f"{V5} allows exactInput 0xb858183f of ROUTER / spender ROUTER / spender QUOTER",),
    ),
    "a venue missing": Change(
        "guardian",
        V4,
        "removeVenue(uint16)",
        lambda _: (2,),
        (f"{V4} lists venue 2 (uniswap_v2) / kind 2, fee 30 bps, callback 0x10d1e85c, created by FACTORY with ",),
    ),
    "an extra venue": Change(
        "owner",
        V5,
        LIST_VENUE,
        lambda chain: (9, (router(chain), 1, 1, 0, b"\x2c\x89\x58\xf6", CODE_HASH)),
        (f"{V5} lists venue 9 / no / kind 1, fee 0 bps, callback 0x2c8958f6, created by ROUTER with salt rule 1 and ",),
    ),
    "another fee signer": Change(
        "owner",
        V5,
        "setFeeSigner(address,uint32)",
        lambda _: (STRANGER, 3600),
        (f"{V5} fee signer / SIGNER / {STRANGER}", f"{V5} previous fee signer / none / SIGNER until "),
    ),
    "a revoked fee signer": Change(
        "guardian",
        V5,
        "revokeFeeSigner(address)",
        lambda _: (networks.current().fee_signer.address,),
        (f"{V5} fee signer / SIGNER / 0x0000000000000000000000000000000000000000",),
    ),
    "another fee": Change(
        "owner",
        V4,
        "setFee(uint16,address)",
        lambda chain: (76, holder(chain, "ops")),
        (f"{V4} fee in bps / 75 / 76", f"{V4} fee recipient / RECIPIENT / OPS"),
    ),
    "a function with another role": Change(
        "owner",
        MANAGER,
        "setTargetFunctionRole(address,bytes4[],uint64)",
        lambda chain: (chain.contracts["v5"], [Function("allowRouter(address,bytes4,address)").selector], OWNER),
        (f"role of {V5}.allowRouter / configurator (2) / owner (1)",),
    ),
    "a public function": Change(
        "owner",
        MANAGER,
        "setTargetFunctionRole(address,bytes4[],uint64)",
        lambda chain: (chain.contracts["v4"], [Function("rescue(address,address,uint256)").selector], 2**64 - 1),
        (f"role of {V4}.rescue / owner (1) / unnamed (18446744073709551615)",),
    ),
    "a role for an unknown selector": Change(
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
    "a missing holder": Change(
        "owner",
        MANAGER,
        "revokeRole(uint64,address)",
        lambda chain: (GUARDIAN, holder(chain, "guardian")),
        ("GUARDIAN holds guardian (3) / yes, delay 0 s / no",),
    ),
    "a longer delay of a holder": Change(
        "owner",
        MANAGER,
        "grantRole(uint64,address,uint32)",
        lambda chain: (GUARDIAN, holder(chain, "guardian"), 60),
        ("GUARDIAN holds guardian (3) / yes, delay 0 s / yes, delay 60 s, since ",),
    ),
    "a delay that will end": Change(
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
    """Replace names in a line by the local world's addresses."""
    addresses = {
        "ROUTER": router(chain),
        "QUOTER": chain.contracts["quoterV2"],
        "FACTORY": chain.contracts["uniswapV2Factory"],
        "SIGNER": networks.current().fee_signer.address,
        "RECIPIENT": str(networks.current().chains["local"].protocol_recipient),
        "MANAGERADDRESS": chain.contracts["accessManager"],
        "V5ADDRESS": chain.contracts["v5"],
        **{role.upper(): holder(chain, role) for role in ("owner", "guardian", "ops")},
    }
    for name, address in addresses.items():
        line = line.replace(name, address)
    return line


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_change_on_the_chain_is_reported(chain: LocalChain, administration: Administration, name: str) -> None:
    change = CHANGES[name]
    contract, function, arguments = KEYS[change.contract], Function(change.signature), change.arguments(chain)
    if change.by == "guardian":
        administration.call(administration.guardian, contract, function, *arguments)
    else:
        administration.after_the_delay(contract, function, *arguments)
    lines = [named(line, chain) for line in change.lines]
    status, out, _ = check("local")
    reported = [line.removeprefix("local: ") for line in out.splitlines()]
    assert status == 1
    assert reported[-1] == ("1 difference" if len(lines) == 1 else f"{len(lines)} differences")
    assert all(any(line.startswith(expected) for line in reported) for expected in lines), reported
    assert bool(differences()) == change.seen_by_status


@pytest.mark.parametrize(
    ("signature", "arguments", "line"),
    [
        ("setGrantDelay(uint64,uint32)", (OPS, 60), "grant delay of ops (4) in seconds / 0 / 60"),
        ("setGrantDelay(uint64,uint32)", (ADMIN, 60), "grant delay of admin (0) in seconds / 0 / 60"),
        ("setTargetAdminDelay(address,uint32)", (V5, 60), f"{V5} admin delay in seconds / 0 / 60"),
    ],
)
def test_a_changed_delay_is_reported_once_it_takes_effect(
    chain: LocalChain, administration: Administration, signature: str, arguments: tuple[Any, ...], line: str
) -> None:
    first = chain.contracts["v5"] if arguments[0] == V5 else arguments[0]
    administration.after_the_delay("accessManager", Function(signature), first, *arguments[1:])
    assert differences() == []
    chain.mine(seconds=5 * 86_400)
    assert differences() == [line]


def test_a_grant_that_is_not_effective_yet_is_reported(chain: LocalChain, administration: Administration) -> None:
    guardian = holder(chain, "guardian")
    administration.after_the_delay(KEYS[MANAGER], Function("setGrantDelay(uint64,uint32)"), GUARDIAN, 60)
    chain.mine(seconds=5 * 86_400)
    administration.after_the_delay(KEYS[MANAGER], Function("revokeRole(uint64,address)"), GUARDIAN, guardian)
    administration.after_the_delay(KEYS[MANAGER], Function("grantRole(uint64,address,uint32)"), GUARDIAN, guardian, 0)
    grant = f"{guardian} holds guardian (3) / yes, delay 0 s / yes, delay 0 s, since "
    assert [line.startswith(grant) for line in differences()] == [False, True]
    chain.mine(seconds=60)
    assert len(differences()) == 1, "only the grant delay"


@pytest.mark.parametrize("name", [V5, V4, MANAGER])
def test_a_single_changed_byte_of_code_is_reported(chain: LocalChain, name: str) -> None:
    address = chain.contracts[KEYS[name]]
    code = bytearray.fromhex(chain.rpc("eth_getCode", address, "latest")[2:])
    code[-1] ^= 1
    chain.put_code(address, code.hex())
    line = f"local: {name} code, immutables masked / {build_record(name).runtime_code_hash} / 0x"
    status, out, _ = check("local")
    assert status == 1
    assert line in out
    assert any(difference.startswith(f"{name} code") for difference in differences())


@pytest.mark.parametrize(
    ("name", "immutable", "index"),
    [
        (name, immutable, index)
        for name in (V5, V4)
        for immutable, offsets in build_record(name).immutables.items()
        for index in range(len(offsets))
    ],
)
def test_a_changed_immutable_is_reported_at_each_of_its_offsets(
    chain: LocalChain, name: str, immutable: str, index: int
) -> None:
    address = chain.contracts[KEYS[name]]
    code = bytearray.fromhex(chain.rpc("eth_getCode", address, "latest")[2:])
    code[build_record(name).immutables[immutable][index] + 31] ^= 1
    chain.put_code(address, code.hex())
    assert any(difference.startswith(f"{name} immutable {immutable} / 0x") for difference in differences())


@pytest.mark.parametrize("name", [V5, V4])
def test_the_report_of_a_hostile_contract_is_short_and_stable(chain: LocalChain, name: str) -> None:
    for code in ("fe", "60006000fd", "600160005260206000f3", "62fffff06000f3"):  # invalid, revert, one, a megabyte
        chain.put_code(chain.contracts[KEYS[name]], code)
        found = differences()
        chain.mine(seconds=1)
        assert differences() == found
        assert found[0].startswith(f"{name} code, immutables masked / ")
        assert all(len(line) < 400 for line in found)


@pytest.mark.parametrize("name", [V5, V4, MANAGER])
def test_an_address_without_code_is_reported_in_one_line(chain: LocalChain, name: str) -> None:
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
def test_a_changed_configuration_is_reported(chain: LocalChain, facts: dict[str, Any], lines: list[str]) -> None:
    local = replace(networks.current().chains["local"], **facts)
    assert differences(local) == [named(line, chain) for line in lines]


def test_a_holder_added_to_the_configuration_is_missing_on_the_chain(chain: LocalChain) -> None:
    local = networks.current().chains["local"]
    holders = {**local.role_holders, "ops": (holder(chain, "ops"), STRANGER)}
    assert differences(replace(local, role_holders=holders)) == [f"{STRANGER} holds ops (4) / yes, delay 0 s / no"]


@pytest.mark.parametrize("fact", ["wrapped_native", "permit2"])
def test_an_immutable_address_other_than_the_configured_is_reported(chain: LocalChain, fact: str) -> None:
    changed: dict[str, Any] = {fact: router(chain)}
    found = differences(replace(networks.current().chains["local"], **changed))
    for name in (V5, V4):
        assert any(line.startswith(f"{name} {fact.upper()} / {router(chain)} / ") for line in found)
        assert any(line.startswith(f"{name} immutable {fact.upper()} / ") for line in found)


def test_contracts_deployed_for_another_chain_id_are_reported(chain: LocalChain) -> None:
    local = networks.current().chains["local"]
    assert chain.contracts
    found = differences(replace(local, chain_id=1), pool=networks.current().pool(local.network))
    assert any(line.startswith(f"{V5} EIP-712 domain / ") for line in found)
    assert any(line.startswith(f"{V5} digest of an authorization / ") for line in found)
    assert any(line.startswith("Permit2 domain separator / ") for line in found)


def test_a_router_added_to_the_configuration_is_missing_on_the_chain(chain: LocalChain) -> None:
    local = networks.current().chains["local"]
    known = local.routers[0]
    second = replace(known, name="second", address=chain.contracts["quoterV2"])  # which has the same factory
    assert len(differences(replace(local, routers=(*local.routers, second)))) == 2 * len(swaps(known))


@pytest.mark.parametrize("kind", ["uniswap_v2", "uniswap_v3"])
def test_a_router_or_quoter_with_another_factory_is_reported(chain: LocalChain, kind: str) -> None:
    local = networks.current().chains["local"]
    (known,) = (each for each in local.routers if each.kind == kind)
    moved = replace(known, factory=STRANGER)
    others = [each for each in local.routers if each != known]
    assert chain.contracts
    assert differences(replace(local, routers=(*others, moved))) == [
        f"factory of {known.name}'s router / {STRANGER} / {known.factory}",
        f"factory of {known.name}'s quoter / {STRANGER} / {known.factory}",
    ]


def test_a_venue_added_to_the_configuration_is_missing_on_the_chain(chain: LocalChain) -> None:
    local = networks.current().chains["local"]
    third = replace(local.venues[0], id=3, name="third")
    found = differences(replace(local, venues=(*local.venues, third)))
    assert chain.contracts
    assert [line.partition(" / ")[0] for line in found] == [f"{name} lists venue 3 (third)" for name in (V5, V4)]
    assert all(line.endswith(" / no") for line in found)


@pytest.mark.parametrize(
    ("fact", "value", "text"),
    [
        ("deployer", STRANGER, f"created by {STRANGER} "),
        ("kind", "uniswap_v2", "kind 2, "),
        ("salt_rule", SaltRule.PACKED_PAIR, "salt rule 2 "),
        ("fee_bps", 25, "fee 25 bps"),
        ("callback", b"\x01\x02\x03\x04", "callback 0x01020304"),
        ("init_code_hash", "0x" + "ab" * 32, "code hash 0x" + "ab" * 32),
    ],
)
def test_a_listed_venue_that_differs_is_reported_and_can_not_be_replaced(
    chain: LocalChain, fact: str, value: Any, text: str
) -> None:
    registry = networks.current()
    local = registry.chains["local"]
    changed: dict[str, Any] = {fact: value}
    local = replace(local, venues=(replace(local.venues[0], **changed), local.venues[1]))
    at = deployed(local)
    assert chain.contracts
    assert at is not None
    found = compare(specification=registry.specification(local), at=at, pool=registry.pool(local.network)).differences
    assert [difference.remedy for difference in found] == [None, None]
    assert all(text in difference.configured and text not in difference.on_chain for difference in found)


@pytest.mark.parametrize("kind", ["uniswap_v2", "uniswap_v3"])
def test_a_venues_quoter_with_another_factory_is_reported(chain: LocalChain, kind: str) -> None:
    local = networks.current().chains["local"]
    moved = [replace(each, factory=STRANGER) if each.kind == kind else each for each in local.venues]
    known = chain.contracts["uniswapV2Factory" if kind == "uniswap_v2" else "uniswapV3Factory"]
    line = f"factory of the quoter of venue {kind} / {STRANGER} / {known}"
    assert differences(replace(local, venues=tuple(moved))) == [line]


# --- a rotation -------------------------------------------------------------------------------------------------------


def test_a_configured_or_expired_previous_signer_is_accepted(
    chain: LocalChain, administration: Administration, change_networks: Callable[..., Networks]
) -> None:
    key = "0x" + "03" * 32
    former, successor = networks.current().fee_signer, LocalFeeSigner.from_key(key)
    administration.after_the_delay("v5", Function("setFeeSigner(address,uint32)"), successor.address, 3600)
    change_networks(fee_signer_settings=SignerSettings("local", key=key))
    (line,) = differences()
    assert line.startswith(f"{V5} previous fee signer / none / {former.address} until ")
    assert differences(replace(networks.current().chains["local"], previous_fee_signer=former.address)) == []
    chain.mine(seconds=3600)
    assert differences() == [], "the contract accepts it only before that second"


# --- history ----------------------------------------------------------------------------------------------------------


def test_a_scheduled_call_that_no_one_announced_is_decoded_and_fails_the_check(administration: Administration) -> None:
    set_signer = Function("setFeeSigner(address,uint32)")
    administration.schedule("v5", set_signer, STRANGER, 0)
    status, out, _ = check("local")
    owner, v5 = administration.owner.address, administration.chain.contracts["v5"]
    assert status == 1
    call = f"{owner} calls {v5} with 0x{set_signer.encode(STRANGER, 0).hex()}"
    assert f"local: scheduled, and not announced: {call}, from " in out
    assert f": setFeeSigner({STRANGER}, 0)\nlocal: no differences\n" in out


def test_a_scheduled_call_that_a_signed_file_announced_passes(
    administration: Administration, announce: Callable[..., None]
) -> None:
    data = Function("setFeeSigner(address,uint32)").encode(STRANGER, 0)
    administration.schedule("v5", Function("setFeeSigner(address,uint32)"), STRANGER, 0)
    announce(administration.owner.address, administration.chain.contracts["v5"], data)
    status, out, _ = check("local")
    assert status == 0
    assert "local: scheduled: " in out
    assert "announced" not in out


def test_an_announcement_covers_no_other_arguments(
    administration: Administration, announce: Callable[..., None]
) -> None:
    administration.schedule("v5", Function("setFeeSigner(address,uint32)"), STRANGER, 0)
    other = Function("setFeeSigner(address,uint32)").encode(STRANGER, 1)
    announce(administration.owner.address, administration.chain.contracts["v5"], other)
    assert check("local")[0] == 1


def test_a_file_that_someone_else_signed_is_refused(
    administration: Administration, announce: Callable[..., None]
) -> None:
    data = Function("setFeeSigner(address,uint32)").encode(STRANGER, 0)
    announce(administration.owner.address, administration.chain.contracts["v5"], data, signer=administration.ops)
    status, _, err = check("local")
    assert status == 2
    assert f"is signed by {administration.ops.address}, who may announce none" in err


@pytest.mark.parametrize("text", ['{"a": 1}', '[{"network": 7}]', "[7]", "no JSON"])
def test_a_malformed_file_of_changes_is_refused(chain: LocalChain, settings: Any, tmp_path: Path, text: str) -> None:
    settings.CHANGES_FILE = tmp_path / "changes.json"
    settings.CHANGES_FILE.write_text(text)
    status, _, err = check("local")
    assert chain.contracts
    assert status == 2
    assert "changes.json is not a list of changes" in err


@pytest.mark.parametrize(
    ("signature", "arguments", "meaning"),
    [
        (
            LIST_VENUE,
            (9, (STRANGER, 1, 2, 30, b"\1\2\3\4", CODE_HASH)),
            f"listVenue(9, ({STRANGER}, 1, 2, 30, 0x01020304, 0x{CODE_HASH.hex()}))",
        ),
        ("grantRole(uint64,address,uint32)", (1, STRANGER, 0), f"grantRole(1, {STRANGER}, 0)"),
        ("labelRole(uint64,string)", (1, "a\u202e label"), "labelRole(1, 'a\\u202e label')"),
        ("drain(address)", (STRANGER,), "a function that is not ours"),
    ],
)
def test_the_meaning_of_a_scheduled_call_is_shown(signature: str, arguments: tuple[Any, ...], meaning: str) -> None:
    assert ScheduledCall(STRANGER, STRANGER, Function(signature).encode(*arguments)).meaning == meaning


def test_a_scheduled_call_with_a_text_that_is_not_one_is_shown() -> None:
    data = Function("labelRole(uint64,string)").encode(1, "AAAA").replace(b"AAAA", b"\xff\xff\xff\xff")
    assert "arguments that are not of these types" in ScheduledCall(STRANGER, STRANGER, data).meaning


def test_a_scheduled_call_with_bytes_that_are_not_arguments_is_shown() -> None:
    data = Function("setFee(uint16,address)").selector + b"\1"
    assert ScheduledCall(STRANGER, STRANGER, data).meaning == (
        "setFee(uint16,address) with arguments that are not of these types"
    )


def test_a_change_is_announced_in_two_steps(administration: Administration, change_chain: Callable[..., Chain]) -> None:
    change_chain(change_signers=(administration.guardian.address,))
    given = ("local", administration.owner.address, STRANGER, "0x12345678", "--note", "Try it.")
    text, meaning = StringIO(), StringIO()
    call_command("announce_change", *given, stdout=text, stderr=meaning)
    assert meaning.getvalue() == "It means: a function that is not ours\n"
    signed = administration.guardian.sign_message(encode_defunct(text=text.getvalue().removesuffix("\n")))
    entry = StringIO()
    call_command("announce_change", *given, f"--signature=0x{signed.signature.hex()}", stdout=entry)
    assert json.loads(entry.getvalue())["target"] == STRANGER
    with pytest.raises(CommandError, match="not one of the change_signers"):
        call_command("announce_change", *given[:-1], "Another.", f"--signature=0x{signed.signature.hex()}")
    with pytest.raises(CommandError, match="malformed"):
        call_command("announce_change", *given, "--signature=0x12")


def test_the_guardian_can_cancel_a_scheduled_call_from_its_reported_line(
    administration: Administration,
) -> None:
    administration.schedule("v5", Function("setFeeSigner(address,uint32)"), STRANGER, 0)
    (line, _) = check("local")[1].splitlines()
    caller, _, target, _, data = line.partition("announced: ")[2].partition(",")[0].split()
    cancel = Function("cancel(address,address,bytes)")
    administration.call(administration.guardian, "accessManager", cancel, caller, target, bytes.fromhex(data[2:]))
    assert check("local")[1] == "local: no differences\n"


def test_a_holder_is_found_through_a_provider_that_limits_the_block_range(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    grant = Function("grantRole(uint64,address,uint32)")
    administration.after_the_delay("accessManager", grant, GUARDIAN, STRANGER, 0)
    limited = start_node()

    def few_blocks(method: str, params: list[Any], result: Any) -> Any:
        many = method == "eth_getLogs" and int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) > 10
        return None if many else result

    limited.alter = few_blocks
    use_providers(limited.url, timeout_seconds=10)
    status, out, _ = check("local")
    assert status == 1
    assert f"{STRANGER} holds guardian (3) / no / yes" in out


def test_a_provider_cannot_hide_a_holder_that_another_shows(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    grant = Function("grantRole(uint64,address,uint32)")
    administration.after_the_delay("accessManager", grant, GUARDIAN, STRANGER, 0)
    liar = start_node()
    liar.alter = lambda method, _params, result: [] if method == "eth_getLogs" else result
    use_providers(liar.url)
    assert check("local")[0] == 3, "the logs of the specified grants are missing, too"
    use_providers(liar.url, administration.chain.world["rpcUrl"])
    assert check("local")[0] == 1


def test_a_stale_provider_cannot_hide_what_another_shows(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    stale = start_node()
    first_results: dict[str, Any] = {}

    def repeat_first(method: str, params: list[Any], result: Any) -> Any:
        return first_results.setdefault(str((method, params)), result) if method == "eth_call" else result

    stale.alter = repeat_first
    use_providers(stale.url)
    assert check("local")[0] == 0
    administration.call(administration.guardian, "v5", Function("pause()"))
    assert check("local")[0] == 0, "there is no other provider"
    use_providers(stale.url, administration.chain.world["rpcUrl"])
    paused = f"local: {V5} paused / no / yes (seen by 1 of 2 providers)\nlocal: 1 difference\n"
    assert check("local") == (1, paused, "")


def test_a_deployed_at_block_after_the_deployment_is_detected(
    chain: LocalChain, change_chain: Callable[..., Chain]
) -> None:
    change_chain(deployed_at_block=chain.web3.eth.block_number)
    status, out, err = check("local")
    assert (status, out) == (3, "")
    assert "lack active grants" in err


def test_differences_are_reported_even_if_no_provider_returns_logs(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    administration.call(administration.guardian, "v5", Function("pause()"))
    silent = start_node()
    silent.alter = lambda method, _params, result: None if method == "eth_getLogs" else result
    use_providers(silent.url)
    status, out, _ = check("local")
    assert status == 1
    assert f"local: {V5} paused / no / yes\nlocal: logs of the access manager / all / no provider returns" in out


@pytest.mark.parametrize("many", [10, 100])
def test_a_range_that_causes_an_http_error_is_split(
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


def test_a_scheduled_call_with_an_impossible_length_is_rejected(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    administration.schedule("v5", Function("setFeeSigner(address,uint32)"), STRANGER, 0)
    odd = start_node()
    length = f"{128:064x}"  # the offset of the call's data; their length comes after it

    def endless(method: str, _params: list[Any], result: Any) -> Any:
        for log in result if method == "eth_getLogs" else ():
            log["data"] = log["data"].replace(length, length + "f" * 64)
        return result

    odd.alter = endless
    use_providers(odd.url)
    assert check("local")[0] == 3


@pytest.mark.parametrize("nonsense", [[{"topics": []}], [7], "0x", {"address": STRANGER}])
def test_malformed_logs_are_rejected(
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


def test_a_chain_that_does_not_answer_has_its_own_exit_status(no_providers: ProviderPool) -> None:
    assert no_providers.providers
    status, out, err = check("local")
    assert (status, out) == (3, "")
    assert err == "local: <provider 0 of chain 31337>: no provider answered in time\n"


def test_a_difference_takes_precedence_over_a_chain_that_does_not_answer(
    chain: LocalChain,
    administration: Administration,
    change_networks: Callable[..., Networks],
) -> None:
    local = networks.current().chains["local"]
    change_networks(
        chains={"silent": replace(local, name="silent", chain_id=2), "local": local},
        rpc_urls={"silent": ["http://127.0.0.1:1"], "local": [chain.world["rpcUrl"]]},
    )
    assert chain.contracts
    assert check()[0] == 3
    administration.call(administration.guardian, "v5", Function("pause()"))
    assert check()[0] == 1


def test_a_chain_without_contracts_is_skipped_unless_it_is_named(
    chain: LocalChain, change_chain: Callable[..., Chain]
) -> None:
    assert chain.contracts
    change_chain(v5_contract=None)
    assert check("local") == (2, "", "local: chain 'local' has no contracts\n")
    with pytest.raises(CommandError, match="Nothing to check") as refusal:
        check()
    assert refusal.value.returncode == 2


def test_an_incomplete_chain_does_not_prevent_checking_the_others(
    administration: Administration, change_networks: Callable[..., Networks]
) -> None:
    local, urls = networks.current().chains["local"], [administration.chain.world["rpcUrl"]]
    change_networks(
        chains={"partial": replace(local, name="partial", v4_fee_bps=None), "local": local},
        rpc_urls={"partial": urls, "local": urls},
    )
    assert check() == (2, "local: no differences\n", "partial: chain 'partial' needs: v4_fee_bps\n")
    administration.call(administration.guardian, "v5", Function("pause()"))
    assert check()[0] == 1


def test_an_unknown_chain_is_refused(chain: LocalChain) -> None:
    assert chain.contracts
    with pytest.raises(CommandError, match="RPC_URLS_MARS") as refusal:
        check("mars")
    assert refusal.value.returncode == 2
