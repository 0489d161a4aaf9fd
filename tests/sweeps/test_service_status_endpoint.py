"""GET /v2/status: public, fast, and correct even when the chain is down."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.test import Client
from pytest_django import Settings

from sweepapi.evm.chain.chains import Chain, FinalityRule
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.signers import SignerSettings
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweeps.heartbeats import WORKER, Heart
from sweeps.models import Heartbeat
from sweeps.protocol import measured
from sweeps.rails.evm import availability
from tests.administration import Administration
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.openapi import assert_documented

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unmeasured")]

URL = "/v2/status"


def is_available(anonymous: Client) -> tuple[bool, bool]:
    """Return the availability of the service and of its only chain."""
    response = anonymous.get(URL)
    assert response.status_code == 200
    data = response.json()["data"]
    return data["available"], data["chains"][0]["available"]


def test_it_needs_no_key_and_has_the_documented_shape(anonymous: Client, chain: LocalChain) -> None:
    response = anonymous.get(URL)
    assert response.status_code == 200
    assert_documented(response, path=URL)
    assert chain.world["chainId"] == response.json()["data"]["chains"][0]["chainId"]


def test_it_lists_what_is_offered_and_within_which_limits(anonymous: Client, chain: LocalChain) -> None:
    data = anonymous.get(URL).json()["data"]
    assert (data["version"], data["available"], data["evmBuildMode"]) == ("v2", True, "v5_partner_fees")
    assert data["fees"] == {"totalFeeBps": 75, "bpsDenominator": 10_000, "hardCapBps": 300}
    assert data["limits"] == {
        "maxTokens": 30,
        "minSlippageBps": 1,
        "maxSlippageBps": 5000,
        "authorizationTtlSeconds": 900,
    }
    assert data["indexer"] == {
        "firstCheckSeconds": 2,
        "backoffFactor": 2,
        "maxDelaySeconds": 300,
        "fallbackProviders": True,
    }
    assert data["worker"] == {"available": False, "awaySince": None}, "none was ever seen"
    (local,) = data["chains"]
    assert (local["name"], local["available"], local["nativeToken"]) == ("local", True, "ETH")
    assert local["buildMode"] == "v5_partner_fees"
    assert local["contracts"] == {name: chain.contracts[name] for name in ("v5", "v4", "permit2")}
    assert {router["name"] for router in local["routers"]} == {"uniswap_v2", "uniswap_v3"}
    assert local["finality"] == {"safe": "safe", "final": "finalized", "recheckSeconds": 3}


def test_it_says_whether_the_worker_is_at_work_and_otherwise_since_when_it_is_not(
    anonymous: Client, chain: LocalChain
) -> None:
    assert chain.contracts
    Heart(WORKER).beat()
    response = anonymous.get(URL)
    assert_documented(response, path=URL)
    assert response.json()["data"]["worker"] == {"available": True, "awaySince": None}
    stopped_at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    Heartbeat.objects.filter(name=WORKER).update(at=stopped_at)
    response = anonymous.get(URL)
    assert_documented(response, path=URL)
    assert response.json()["data"]["worker"] == {"available": False, "awaySince": "2026-01-02T03:04:05Z"}


def test_the_measurement_is_one_round_trip_and_remembered(
    anonymous: Client, chain: LocalChain, round_trips: list[list[str]]
) -> None:
    assert chain.contracts
    for _ in range(3):
        assert is_available(anonymous) == (True, True)
    assert len(round_trips) == 1


def test_a_chain_that_is_down_is_listed_as_unavailable(anonymous: Client, no_providers: ProviderPool) -> None:
    assert no_providers.providers
    assert is_available(anonymous) == (False, False)


def test_a_chain_that_hangs_delays_the_answer_by_at_most_a_second(
    anonymous: Client,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measured, "MEASURE_TIMEOUT_SECONDS", 0.2)
    hanging = start_node()
    use_providers(hanging.url, timeout_seconds=30)
    with hanging.hung():
        before = time.monotonic()
        assert is_available(anonymous) == (False, False)
        assert time.monotonic() - before < 2


def test_no_url_of_a_provider_and_no_secret_appears(
    anonymous: Client, chain: LocalChain, no_providers: ProviderPool, settings: Settings
) -> None:
    assert no_providers.providers
    text = anonymous.get(URL).content.decode()
    for secret in (chain.world["rpcUrl"], "127.0.0.1", settings.FEE_SIGNER_KEY, "secret-of-the-provider"):
        assert secret not in text


def test_a_contract_with_another_fee_signer_makes_the_chain_unavailable(
    anonymous: Client, chain: LocalChain, change_networks: Callable[..., Networks]
) -> None:
    assert chain.contracts
    change_networks(fee_signer_settings=SignerSettings("local", key="0x" + "01" * 32))
    assert is_available(anonymous) == (False, False)


def test_a_difference_makes_the_chain_unavailable_and_is_logged_once(
    anonymous: Client, chain: LocalChain, caplog: pytest.LogCaptureFixture
) -> None:
    administration = Administration(chain)
    administration.call(administration.guardian, "v5", Function("pause()"))
    for _ in range(3):
        assert is_available(anonymous) == (False, False)
        availability.measured.measured_at -= measured.STALE_SECONDS
    administration.call(administration.owner, "v5", Function("unpause()"))
    assert is_available(anonymous) == (True, True)
    logged = [record for record in caplog.records if "contracts_" in record.getMessage()]
    assert [record.levelname for record in logged] == ["WARNING", "INFO"], "once that it differs, once that it agrees"
    assert "ServiceBatchV5PartnerFees paused / no / yes" in logged[0].getMessage()


def test_a_chain_whose_configuration_is_incomplete_is_unavailable(
    anonymous: Client, change_chain: Callable[..., Chain]
) -> None:
    change_chain(protocol_recipient=None)
    assert is_available(anonymous) == (False, False)


def test_an_address_without_the_contract_makes_the_chain_unavailable(
    anonymous: Client, change_chain: Callable[..., Chain], chain: LocalChain
) -> None:
    change_chain(v5_contract=chain.users[0].address)
    assert is_available(anonymous) == (False, False)


def test_a_chain_without_our_contract_is_unavailable(anonymous: Client, change_chain: Callable[..., Chain]) -> None:
    change_chain(v5_contract=None)
    assert is_available(anonymous) == (False, False)


def test_an_old_head_makes_the_chain_unavailable(
    anonymous: Client, chain: LocalChain, change_chain: Callable[..., Chain], monkeypatch: pytest.MonkeyPatch
) -> None:
    change_chain(finality=FinalityRule("safe", "finalized", 3, max_head_age_seconds=60))
    chain.mine()
    head = chain.web3.eth.get_block("latest")["timestamp"]
    monkeypatch.setattr(time, "time", lambda: head + 61)
    assert is_available(anonymous) == (False, False)


def test_the_last_measurement_is_returned_while_a_new_one_hangs(
    anonymous: Client,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hanging = start_node()
    use_providers(hanging.url, timeout_seconds=30)
    assert is_available(anonymous) == (True, True)
    memory = availability.measured
    memory.measured_at -= measured.FRESH_SECONDS
    monkeypatch.setattr(measured, "MEASURE_TIMEOUT_SECONDS", 10)
    with hanging.hung():
        before = time.monotonic()
        assert is_available(anonymous) == (True, True)
        assert time.monotonic() - before < 5, "the request does not wait for the provider, which would take 10"
    assert memory.measuring.acquire(timeout=10), "the measurement ends"


def test_a_slow_provider_does_not_make_the_chain_unavailable_when_no_request_waits_for_it(
    anonymous: Client,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = start_node()
    use_providers(slow.url, timeout_seconds=10)
    assert is_available(anonymous) == (True, True)
    memory = availability.measured
    monkeypatch.setattr(measured, "MEASURE_TIMEOUT_SECONDS", 0.05)
    memory.measured_at -= measured.FRESH_SECONDS
    with slow.hung():
        assert is_available(anonymous) == (True, True)
        assert not memory.measuring.acquire(timeout=0.3), "the measurement is still waiting"
    assert memory.measuring.acquire(timeout=10), "the measurement ends"
    assert is_available(anonymous) == (True, True)


def test_no_request_waits_for_another_ones_measurement_that_hangs(
    anonymous: Client,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hanging = start_node()
    use_providers(hanging.url, timeout_seconds=30)
    assert is_available(anonymous) == (True, True)
    memory = availability.measured
    monkeypatch.setattr(measured, "MEASURE_TIMEOUT_SECONDS", 0.1)
    memory.measured_at -= measured.FRESH_SECONDS
    with hanging.hung():
        assert is_available(anonymous) == (True, True)
        memory.measured_at -= measured.STALE_SECONDS
        before = time.monotonic()
        assert is_available(anonymous) == (True, True)
        assert time.monotonic() - before < 2
    assert memory.measuring.acquire(timeout=10), "the measurement ends"


def test_a_stale_measurement_is_not_returned(anonymous: Client, use_providers: Callable[..., ProviderPool]) -> None:
    assert is_available(anonymous) == (True, True)
    availability.measured.measured_at -= measured.STALE_SECONDS
    use_providers("http://127.0.0.1:1/")
    assert is_available(anonymous) == (False, False)
