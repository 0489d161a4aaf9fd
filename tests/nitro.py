"""The local chain as one of Nitro, on which the data of transactions costs gas."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dev.chain.nitro import node
from dev.chain.nitro.node import NitroNode
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.fee_models.nitro import NitroFees
from sweepapi.rpc import ProviderPool
from tests.local_chain import LocalChain


@dataclass(frozen=True)
class NitroChain:
    """A node that charges for data, a connection to it, and the chain and pool of the service."""

    node: NitroNode
    local: LocalChain
    facts: Chain
    pool: ProviderPool


@contextmanager
def charging(
    chain: LocalChain, change_chain: Callable[..., Chain], use_providers: Callable[..., ProviderPool], *, ratio: int
) -> Iterator[NitroChain]:
    """Let the service read the local chain from a node whose units of data cost so many times the base fee."""
    with node.charging(chain.world["rpcUrl"], ratio=ratio) as charging_node:
        facts = change_chain(fee_model=NitroFees())
        local = LocalChain({**chain.world, "rpcUrl": charging_node.url})
        yield NitroChain(charging_node, local, facts, use_providers(charging_node.url))
