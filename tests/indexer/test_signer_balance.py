"""The fee signer's balance is measured on each chain, because without it nothing can be cancelled."""

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from indexer import signer_balance
from sweepapi import networks
from sweepapi.rpc import ProviderPool
from tests.local_chain import LocalChain


def measured(chain: LocalChain) -> float | None:
    labels = {"network": f"eip155:{chain.world['chainId']}"}
    return REGISTRY.get_sample_value("sweepapi_fee_signer_balance_wei", labels)


def test_the_balance_of_the_configured_signer_is_measured(chain: LocalChain) -> None:
    chain.rpc("anvil_setBalance", networks.current().fee_signer.address, hex(12_345))
    signer_balance.measure()
    assert measured(chain) == 12_345


def test_a_chain_that_does_not_answer_keeps_its_last_balance(chain: LocalChain, no_providers: ProviderPool) -> None:
    assert no_providers.providers
    before = measured(chain)
    with capture_logs() as lines:
        signer_balance.measure()
    assert measured(chain) == before
    assert lines[-1]["event"] == "signer_balance_unknown"
