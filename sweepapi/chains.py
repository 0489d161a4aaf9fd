"""The old names of the registry, until the last caller of them is rewritten."""

from sweepapi import networks
from sweepapi.evm.chains import Chain
from sweepapi.evm.deployment.specification import Specification
from sweepapi.evm.rpc import ProviderPool
from sweepapi.evm.signer import FeeSigner


def known() -> dict[str, Chain]:
    return dict(networks.current().chains)


def enabled() -> tuple[Chain, ...]:
    return networks.current().enabled


def find(name: str) -> Chain | None:
    return networks.current().find(name)


def by_id(chain_id: int) -> Chain:
    return networks.current().chain(f"eip155:{chain_id}")


def name_of(chain_id: int) -> str:
    return networks.current().name_of(f"eip155:{chain_id}")


def pool(chain_id: int) -> ProviderPool:
    return networks.current().pool(f"eip155:{chain_id}")


def fee_signer() -> FeeSigner:
    return networks.current().fee_signer


def specification(chain: Chain) -> Specification:
    return networks.current().specification(chain)
