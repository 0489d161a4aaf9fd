"""What is scheduled on the contracts is followed, and what no one announced is counted and logged once."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eth_account.messages import encode_defunct
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from indexer.scheduled import ScheduleWatches
from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.deployment.scheduled import AnnouncedChange, ScheduledCall
from sweepapi.evm.encoding.abi import Function
from sweepapi.rpc import ProviderPool
from tests.administration import Administration
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain

SET_SIGNER = Function("setFeeSigner(address,uint32)")
STRANGER = "0x000000000000000000000000000000000000bEEF"


@pytest.fixture
def administration(chain: LocalChain) -> Administration:
    return Administration(chain)


def counts() -> tuple[float | None, float | None]:
    """Return how many operations are scheduled and were not announced, and how many were."""
    network = networks.current().chains["local"].network
    name = "sweepapi_scheduled_operations"
    values = [REGISTRY.get_sample_value(name, {"network": network, "announced": one}) for one in ("no", "yes")]
    return values[0], values[1]


def test_an_operation_that_no_one_announced_is_counted_until_it_is_cancelled(administration: Administration) -> None:
    watches = ScheduleWatches()
    watches.round()
    assert counts() == (0, 0)
    administration.schedule("v5", SET_SIGNER, STRANGER, 0)
    with capture_logs() as lines:
        watches.round()
        watches.round()
    assert counts() == (1, 0)
    assert [line["event"] for line in lines] == ["operation_not_announced"], "it is logged once"
    assert f"setFeeSigner({STRANGER}, 0)" in lines[0]["operation"]
    owner, v5 = administration.owner.address, administration.chain.contracts["v5"]
    cancel = Function("cancel(address,address,bytes)")
    administration.call(administration.guardian, "accessManager", cancel, owner, v5, SET_SIGNER.encode(STRANGER, 0))
    watches.round()
    assert counts() == (0, 0)


def test_an_announced_operation_is_counted_apart(
    administration: Administration, change_chain: Callable[..., Chain], settings: Any, tmp_path: Path
) -> None:
    local = change_chain(change_signers=(administration.guardian.address,))
    data = SET_SIGNER.encode(STRANGER, 0)
    call = ScheduledCall(administration.owner.address, administration.chain.contracts["v5"], data)
    change = AnnouncedChange(call, local.network, "A test.", "")
    signed = administration.guardian.sign_message(encode_defunct(text=change.message))
    settings.CHANGES_FILE = tmp_path / "changes.json"
    settings.CHANGES_FILE.write_text(json.dumps([replace(change, signature=f"0x{signed.signature.hex()}").as_json()]))
    administration.schedule("v5", SET_SIGNER, STRANGER, 0)
    ScheduleWatches().round()
    assert counts() == (0, 1)


def test_a_chain_that_does_not_answer_keeps_its_figures(
    administration: Administration, use_providers: Callable[..., ProviderPool]
) -> None:
    watches = ScheduleWatches()
    administration.schedule("v5", SET_SIGNER, STRANGER, 0)
    watches.round()
    use_providers("http://127.0.0.1:1")
    with capture_logs() as lines:
        ScheduleWatches().round()
    assert counts() == (1, 0)
    assert "schedule_unknown" in [line["event"] for line in lines]


def test_a_provider_that_hides_an_operation_keeps_it_from_no_one(
    administration: Administration, use_providers: Callable[..., ProviderPool], start_node: Callable[[], FakeNode]
) -> None:
    honest, lying, malformed = start_node(), start_node(), start_node()
    lying.alter = lambda method, _params, result: [] if method == "eth_getLogs" else result
    malformed.alter = lambda method, _params, result: [7] if method == "eth_getLogs" else result
    use_providers(lying.url, malformed.url, honest.url)
    administration.schedule("v5", SET_SIGNER, STRANGER, 0)
    ScheduleWatches().round()
    assert counts() == (1, 0)


def test_a_file_that_can_not_be_trusted_announces_nothing(
    administration: Administration, settings: Any, tmp_path: Path
) -> None:
    settings.CHANGES_FILE = tmp_path / "changes.json"
    settings.CHANGES_FILE.write_text("no JSON")
    administration.schedule("v5", SET_SIGNER, STRANGER, 0)
    with capture_logs() as lines:
        ScheduleWatches().round()
    assert counts() == (1, 0)
    assert {line["event"] for line in lines} == {"announced_changes_refused", "operation_not_announced"}
