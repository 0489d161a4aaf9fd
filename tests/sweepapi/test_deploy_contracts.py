"""manage.py deploy_contracts: deploys to an empty chain as configured, and resumes after any failure."""

import secrets
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from eth_account import Account
from eth_account.signers.local import LocalAccount

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import BuildError
from sweepapi.evm.chain.sending import GWEI
from sweepapi.evm.deployment import access_manager, sender
from sweepapi.evm.deployment.audit import audit
from sweepapi.evm.deployment.creation import CREATOR, Artifacts, creations
from sweepapi.evm.deployment.runner import CONFIGURE, Deployment
from sweepapi.evm.deployment.sender import Mined
from sweepapi.evm.deployment.specification import MANAGER, V4, V5
from sweepapi.rpc import Call, Provider, ProviderPool
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain

OUT = Path(__file__).parents[2] / "contracts" / "out"
COIN = 10**18
MINES = True
STEPS = (f"create {MANAGER}", f"create {V5}", f"create {V4}", CONFIGURE)
STRANGER = "0x000000000000000000000000000000000000bEEF"


@pytest.fixture
def deployer(chain: LocalChain, monkeypatch: pytest.MonkeyPatch) -> LocalAccount:
    """An unused account, so that its contracts' addresses are empty."""
    account: LocalAccount = Account.from_key(secrets.token_bytes(32))
    chain.rpc("anvil_setBalance", account.address, hex(COIN))
    monkeypatch.setenv("DEPLOYER_KEY", "0x" + bytes(account.key).hex())
    return account


@pytest.fixture
def empty(deployer: LocalAccount, change_chain: Callable[..., Chain]) -> Chain:
    """The local chain without our contracts: only Permit2, Multicall3, tokens and routers."""
    assert deployer
    return change_chain(v5_contract=None, v4_contract=None, access_manager=None, deployed_at_block=None)


@pytest.fixture
def node(use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]) -> FakeNode:
    """A fake node as the only provider."""
    fake = start_node()
    use_providers(fake.url)
    return fake


def deploy(*options: str) -> str:
    """Run the command and return its output."""
    out = StringIO()
    call_command("deploy_contracts", "local", *options, stdout=out, stderr=out)
    return out.getvalue()


def refused(*options: str) -> CommandError:
    with pytest.raises(CommandError) as refusal:
        deploy(*options)
    assert refusal.value.returncode == 2
    return refusal.value


def deployment(empty: Chain, deployer: LocalAccount, *, max_fee_gwei: int = 100) -> Deployment:
    return Deployment(
        specification=networks.current().specification(empty),
        artifacts=Artifacts(OUT),
        account=deployer,
        pool=networks.current().pool(empty.network),
        max_fee_cap=max_fee_gwei * GWEI,
    )


def transactions_of(chain: LocalChain, account: LocalAccount) -> int:
    """Count the account's transactions, including pending ones."""
    return chain.web3.eth.get_transaction_count(account.address, "pending")


def facts(text: str) -> dict[str, Any]:
    """Parse the lines for chains.toml in the output."""
    lines = text[text.index("[chains.local.contracts]") :].splitlines()[:5]
    table: dict[str, Any] = tomllib.loads("\n".join(lines))["chains"]["local"]["contracts"]
    return table


def recorded(empty: Chain, text: str) -> Chain:
    """Return the chain with the printed lines added to chains.toml."""
    table = facts(text)
    return replace(
        empty,
        access_manager=table["access_manager"],
        v5_contract=table["v5"],
        v4_contract=table["v4"],
        deployed_at_block=table["deployed_at_block"],
    )


def differences(chain: Chain) -> list[str]:
    registry = networks.current()
    found = audit(specification=registry.specification(chain), pool=registry.pool(chain.network))
    return [str(difference) for difference in found.differences]


# --- an empty chain ---------------------------------------------------------------------------------------------------


def test_an_empty_chain_is_deployed_to_in_four_transactions(
    chain: LocalChain, empty: Chain, deployer: LocalAccount
) -> None:
    text = deploy()
    assert text.endswith("The chain matches the configuration.\n")
    assert differences(recorded(empty, text)) == []
    assert transactions_of(chain, deployer) == 4


def test_the_addresses_are_printed_before_anything_is_sent(chain: LocalChain, empty: Chain) -> None:
    assert empty
    dry_run = deploy("--dry-run")
    text = deploy()
    assert text.index("\n1. create ") < text.index("sending ")
    for name, key in ((MANAGER, "access_manager"), (V5, "v5"), (V4, "v4")):
        address = facts(text)[key]
        for output in (dry_run, text):
            assert any(line.split() == [name, address] for line in output.splitlines())
        assert chain.rpc("eth_getCode", address, "latest") != "0x"


def test_a_dry_run_prints_all_steps_and_sends_nothing(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, round_trips: list[list[str]]
) -> None:
    assert empty
    text = deploy("--dry-run")
    for number, step in enumerate(STEPS, start=1):
        assert f"{number}. {step}\n" in text
    assert f"   - {V5} allows exactInput of {chain.contracts['swapRouter02']}\n" in text
    assert f"   - {V5} lists venue 1 (uniswap_v3)\n" in text
    assert f"   - {V4}.setFee needs the role configurator (2)\n" in text
    assert "   - guardian (3) may cancel what configurator (2) schedules\n" in text
    assert f"   - {chain.world['roles']['owner']['address']} holds admin (0) with a delay of 172800 s\n" in text
    assert f"   - the deployer {deployer.address} renounces the admin role\n" in text
    assert "costs at most " in text
    assert transactions_of(chain, deployer) == 0
    assert not any("eth_sendRawTransaction" in trip for trip in round_trips)


def test_each_step_is_printed_with_its_transaction_gas_and_cost(
    chain: LocalChain, empty: Chain, deployer: LocalAccount
) -> None:
    assert empty
    before = chain.coin(deployer.address)
    rows = {}
    for line in deploy().splitlines():
        for step in (*STEPS, "total"):
            if line.startswith(f"{step} "):
                rows[step] = line.removeprefix(step).split()
    for step in STEPS:
        tx_hash, gas, _ = rows[step]
        receipt = chain.receipt(tx_hash)
        assert (receipt["status"], f"{receipt['gasUsed']:,}") == (1, gas)
    assert float(rows["total"][1]) == pytest.approx((before - chain.coin(deployer.address)) / COIN, rel=1e-9)


def test_a_second_run_sends_nothing(chain: LocalChain, empty: Chain, deployer: LocalAccount) -> None:
    assert empty
    deploy()
    text = deploy()
    assert "nothing to send" in text
    assert text.endswith("The chain matches the configuration.\n")
    assert transactions_of(chain, deployer) == 4


def test_no_step_uses_more_gas_than_its_bound(empty: Chain, deployer: LocalAccount) -> None:
    work = deployment(empty, deployer)
    bounds = {step.name: step.gas_bound for step in work.plan().steps}
    used = {event.name: event.gas_used for event in work.run() if isinstance(event, Mined)}
    assert used.keys() == bounds.keys()
    assert all(used[name] <= bounds[name] for name in used)


def test_only_the_deployer_is_admin_until_the_handover(empty: Chain, deployer: LocalAccount) -> None:
    """Before the last transaction only the admin may call the admin functions, and the deployer is the only admin."""
    work = deployment(empty, deployer)
    for event in work.run():
        if isinstance(event, Mined) and event.name == STEPS[2]:
            break
    found = differences(work.recorded_specification().chain)
    assert f"{deployer.address} holds admin (0) / no / yes, delay 0 s, since " in "\n".join(found)
    roles = [line for line in found if line.startswith("role of ")]
    assert len(roles) == 18
    assert all(line.endswith(" / admin (0)") for line in roles)
    assert not any(word in line for line in found for word in (" immutable ", " code, ", " authority "))


def test_the_deployer_has_no_role_after_the_handover(chain: LocalChain, empty: Chain, deployer: LocalAccount) -> None:
    table = facts(deploy())
    request = access_manager.GRANT_ROLE.encode(1, deployer.address, 0)
    call = {"from": deployer.address, "to": table["access_manager"], "data": "0x" + request.hex()}
    answer = chain.web3.provider.make_request("eth_call", [call, "latest"])  # type: ignore[arg-type]
    assert "error" in answer
    assert empty


# --- failures during a run --------------------------------------------------------------------------------------------


class Crash(BaseException):
    """The process is killed."""


@pytest.mark.parametrize("crash", list(product(range(4), (False, True))))
def test_after_a_crash_at_any_step_another_run_completes_without_an_extra_transaction(
    chain: LocalChain,
    empty: Chain,
    deployer: LocalAccount,
    monkeypatch: pytest.MonkeyPatch,
    crash: tuple[int, bool],
) -> None:
    step, sent = crash  # the transaction at which the process ends, and whether it was sent
    post = Provider._post  # noqa: SLF001 all requests pass here
    sends = 0

    def crashing(provider: Provider, calls: Sequence[Call], timeout_seconds: float) -> Mapping[int, Any]:
        nonlocal sends
        is_send = calls[-1].method == "eth_sendRawTransaction"
        sends += is_send
        if is_send and sends == step + 1:
            if sent:
                post(provider, calls, timeout_seconds)
            raise Crash
        return post(provider, calls, timeout_seconds)

    with monkeypatch.context() as patch:
        patch.setattr(Provider, "_post", crashing)
        with pytest.raises(Crash):
            deploy()
    assert transactions_of(chain, deployer) == step + sent
    text = deploy()
    assert differences(recorded(empty, text)) == []
    assert transactions_of(chain, deployer) == 4


@pytest.mark.parametrize("step", range(4), ids=STEPS)
def test_after_a_failed_transaction_another_run_completes(
    chain: LocalChain,
    empty: Chain,
    deployer: LocalAccount,
    node: FakeNode,
    step: int,
) -> None:
    estimates = 0

    def underestimate_once(method: str, _params: list[Any], result: Any) -> Any:
        nonlocal estimates
        estimates += method == "eth_estimateGas"
        return hex(int(result, 16) * 7 // 10) if method == "eth_estimateGas" and estimates == step + 1 else result

    node.alter = underestimate_once
    assert " reverted" in str(refused())
    assert differences(recorded(empty, deploy())) == []
    assert transactions_of(chain, deployer) == 5


def test_a_lost_response_does_not_stop_the_run(
    chain: LocalChain,
    empty: Chain,
    deployer: LocalAccount,
    node: FakeNode,
) -> None:
    node.alter = lambda method, _params, result: "lost" if method == "eth_sendRawTransaction" else result
    assert differences(recorded(empty, deploy())) == []
    assert transactions_of(chain, deployer) == 4


def test_a_lost_transaction_is_sent_again_with_the_same_bytes(
    chain: LocalChain,
    empty: Chain,
    deployer: LocalAccount,
    node: FakeNode,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sweepapi.rpc.health.CIRCUIT_SECONDS", 0.0)
    monkeypatch.setattr(sender, "RESEND_SECONDS", 0.0)
    seen: list[str] = []

    def refuse_first(batch: list[dict[str, Any]]) -> bool:
        sent = [request["params"][0] for request in batch if request["method"] == "eth_sendRawTransaction"]
        seen.extend(sent)
        return bool(sent) and seen.count(sent[0]) < 2

    node.refuse = refuse_first
    assert differences(recorded(empty, deploy())) == []
    assert all(seen.count(raw) >= 2 for raw in seen)
    assert len(set(seen)) == transactions_of(chain, deployer) == 4


def test_nothing_is_sent_while_the_deployer_has_a_pending_transaction(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert empty
    with chain.mining_paused(), monkeypatch.context() as patch:
        patch.setattr(sender, "MINED_WITHIN_SECONDS", 0.05)
        chain.send(deployer, {"to": deployer.address, "data": "0x"}, gas=21_000)
        assert "has pending transactions; run it again later" in str(refused())
        chain.mine()
    assert transactions_of(chain, deployer) == 1
    deploy()
    assert transactions_of(chain, deployer) == 5


def test_a_transaction_that_is_not_mined_in_time_is_not_replaced(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    with chain.mining_paused(), monkeypatch.context() as patch:
        patch.setattr(sender, "MINED_WITHIN_SECONDS", 0.05)
        assert "is not mined yet; run it again later" in str(refused())
        chain.mine()
    assert differences(recorded(empty, deploy())) == []
    assert transactions_of(chain, deployer) == 4


def test_pending_transactions_of_an_earlier_run_are_awaited_before_planning(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, node: FakeNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the run would send the same contract again."""
    with chain.mining_paused():
        with monkeypatch.context() as patch:
            patch.setattr(sender, "MINED_WITHIN_SECONDS", 0.05)
            refused()
        asked = 0

        def mine_first(method: str, params: list[Any], result: Any) -> Any:
            nonlocal asked
            asked += (method, params[-1:]) == ("eth_getTransactionCount", ["pending"])
            if asked == 1:
                chain.rpc("evm_setAutomine", MINES)
                chain.rpc("evm_mine")
            return result

        node.alter = mine_first
        assert differences(recorded(empty, deploy())) == []
    assert transactions_of(chain, deployer) == 4


def test_a_mined_step_is_not_sent_again_to_a_node_that_does_not_show_it(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, node: FakeNode
) -> None:
    at = deployment(empty, deployer).plan().at

    def hide_code(method: str, params: list[Any], result: Any) -> Any:
        return "0x" if method == "eth_getCode" and params[0] == at.manager else result

    node.alter = hide_code
    assert f"create {MANAGER} was mined, but the node does not show it" in str(refused())
    assert transactions_of(chain, deployer) == 1


def test_contracts_that_someone_else_created_from_the_same_bytes_are_used(
    chain: LocalChain, empty: Chain, deployer: LocalAccount
) -> None:
    for creation in creations(networks.current().specification(empty), Artifacts(OUT), deployer.address):
        chain.send(chain.users[0], {"to": CREATOR, "data": "0x" + creation.data.hex()})
    assert differences(recorded(empty, deploy())) == []
    assert transactions_of(chain, deployer) == 1


def test_a_difference_without_a_remedy_stops_the_handover(
    chain: LocalChain, empty: Chain, deployer: LocalAccount
) -> None:
    """A deployment does not unpause, so the deployer stays admin until someone decides what to do."""
    work = deployment(empty, deployer)
    for event in work.run():
        if isinstance(event, Mined) and event.name == STEPS[2]:
            break
    pause = {"to": work.plan().at.v5, "data": "0x8456cb59"}
    chain.send(deployer, pause, gas=100_000)
    assert work.plan().steps == ()
    with pytest.raises(SystemExit) as end:
        deploy()
    assert end.value.code == 1
    assert transactions_of(chain, deployer) == 4


def test_differences_that_only_role_holders_can_fix_are_reported(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, change_chain: Callable[..., Chain]
) -> None:
    deploy()
    change_chain(
        **vars(empty) | {"role_holders": {**empty.role_holders, "ops": (*empty.role_holders["ops"], STRANGER)}}
    )
    out = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("deploy_contracts", "local", stdout=out)
    assert end.value.code == 1
    assert f"differs: {STRANGER} holds ops (4) / yes, delay 0 s / no\n" in out.getvalue()
    assert transactions_of(chain, deployer) == 4


def test_a_changed_configuration_after_the_handover_creates_no_contract(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, change_chain: Callable[..., Chain]
) -> None:
    deploy()
    change_chain(**vars(empty) | {"v4_fee_bps": 80})
    assert "already handed over" in str(refused("--dry-run"))
    assert "add its contracts to the chains file, or use another key" in str(refused())
    assert transactions_of(chain, deployer) == 4


def test_a_dry_run_reports_differences(deployer: LocalAccount, change_chain: Callable[..., Chain]) -> None:
    assert deployer
    change_chain(v4_fee_bps=80)
    out = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("deploy_contracts", "local", "--dry-run", stdout=out)
    assert end.value.code == 1
    assert f"differs: {V4} fee in bps / 80 / 75\n" in out.getvalue()


def test_contracts_in_the_chains_file_are_not_deployed_again(
    chain: LocalChain, deployer: LocalAccount, change_chain: Callable[..., Chain]
) -> None:
    change_chain()
    text = deploy()
    assert "nothing to send" in text
    assert facts(text)["v5"] == chain.contracts["v5"]
    assert transactions_of(chain, deployer) == 0


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_node_of_another_chain_is_refused(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, change_chain: Callable[..., Chain]
) -> None:
    change_chain(**vars(empty) | {"chain_id": 1})
    assert "no provider answered" in str(refused())
    assert transactions_of(chain, deployer) == 0


def test_a_deployer_without_enough_coins_is_refused_before_anything_is_sent(
    chain: LocalChain, empty: Chain, deployer: LocalAccount
) -> None:
    plan = deployment(empty, deployer).plan()
    chain.rpc("anvil_setBalance", deployer.address, hex(plan.cost_bound // 2))
    assert f"has {plan.cost_bound // 2} wei, and the remaining steps may cost " in str(refused())
    assert transactions_of(chain, deployer) == 0


def test_a_base_fee_above_the_cap_is_refused(chain: LocalChain, empty: Chain, deployer: LocalAccount) -> None:
    assert empty
    assert "is above the cap" in str(refused("--max-fee-gwei", "0"))
    assert transactions_of(chain, deployer) == 0


def test_a_chain_without_the_deterministic_deployer_is_refused(
    chain: LocalChain, empty: Chain, deployer: LocalAccount
) -> None:
    assert empty
    chain.put_code(CREATOR, "00")
    assert f"no deterministic deployer at {CREATOR}" in str(refused())
    assert transactions_of(chain, deployer) == 0


@pytest.mark.parametrize("role", ["owner", "configurator", "guardian", "ops"])
def test_the_deployer_must_not_hold_a_role(
    empty: Chain, deployer: LocalAccount, change_chain: Callable[..., Chain], role: str
) -> None:
    change_chain(**vars(empty) | {"role_holders": {**empty.role_holders, role: (deployer.address,)}})
    assert f"the deployer {deployer.address} may not hold a role" in str(refused())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocol_recipient": None}, "needs: protocol_recipient"),
        ({"v4_fee_bps": None}, "needs: v4_fee_bps"),
        ({"v4_fee_bps": 301}, "v4_fee_bps is above 300"),
        ({"role_holders": {}}, "needs: roles.owner, roles.configurator, roles.guardian, roles.ops"),
        ({"role_holders": {"gaurdian": (STRANGER,)}}, "roles.gaurdian (unknown role)"),
    ],
)
def test_an_incomplete_or_invalid_configuration_is_refused(
    empty: Chain, change_chain: Callable[..., Chain], change: dict[str, Any], message: str
) -> None:
    change_chain(**vars(empty) | change)
    assert message in str(refused())


def test_a_missing_build_is_refused_with_the_command_to_make_it(tmp_path: Path, empty: Chain) -> None:
    with pytest.raises(BuildError, match=r"AccessManager is not built: run `make contracts/out/.ready`"):
        creations(networks.current().specification(empty), Artifacts(tmp_path), STRANGER)


def test_a_build_that_does_not_match_the_record_is_refused(tmp_path: Path, empty: Chain) -> None:
    other = tmp_path / f"{MANAGER}.sol" / f"{MANAGER}.json"
    other.parent.mkdir()
    other.write_text('{"bytecode": {"object": "0x6000"}}', encoding="utf-8")
    with pytest.raises(BuildError, match="does not match the record"):
        creations(networks.current().specification(empty), Artifacts(tmp_path), STRANGER)


# --- the key ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [None, "", "0x12", "zz" * 32, "0x" + "00" * 32, "0x" + "ff" * 32])
def test_an_invalid_key_is_refused_and_not_printed(
    empty: Chain, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    assert empty
    if key is None:
        monkeypatch.delenv("DEPLOYER_KEY")
    else:
        monkeypatch.setenv("DEPLOYER_KEY", key)
    refusal = refused()
    assert str(refusal) == "DEPLOYER_KEY must be a private key, 0x and 64 hex digits."
    assert refusal.__cause__ is None


def test_the_key_is_never_printed_or_logged(
    chain: LocalChain, empty: Chain, deployer: LocalAccount, caplog: pytest.LogCaptureFixture
) -> None:
    assert empty
    text = deploy("--dry-run") + deploy() + repr(deployment(empty, deployer))
    chain.rpc("anvil_setBalance", deployer.address, "0x0")
    text += deploy() + caplog.text
    assert bytes(deployer.key).hex() not in text.lower()
