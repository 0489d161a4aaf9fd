"""The networks of a run: one for all lies that go by transaction hash, and one for each that changes whole batches."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from dev.chain.chains_file import CHAIN
from dev.engines.anvil import CHAIN_ID
from lab.bench.sweeps.chain import Chain
from lab.bench.sweeps.receipts import Mined, Original
from lab.matrix.fates import Subject
from lab.matrix.mutations import MUTATIONS, Mutation
from lab.matrix.node import Lie, LyingNode, serving
from lab.matrix.told import Told

# Lies that go by transaction hash share the local chain; the others have a chain each, with the same facts.
NETWORKS: Mapping[str, str] = {
    one.name: f"{CHAIN}{number}" if one.is_of_a_query else CHAIN for number, one in enumerate(MUTATIONS, start=1)
}
# More than appear in a run: one for each lie that is told, twice, and one each two seconds.
BLOCKS_OF_A_RUN = 1_000


@dataclass
class Network:
    """A chain, and the nodes that show it."""

    chain: Chain
    nodes: Sequence[LyingNode]
    urls: Sequence[str] = ()

    def mine(self, original: Original, copies: Sequence[tuple[Mutation, int, UUID]]) -> list[Subject]:
        """Execute copies in the newest blocks, one for each lie, and let the liars lie about them.

        A copy has the lie about it, its number and the id of its sweep.
        """
        lies = list(dict.fromkeys(mutation.name for mutation, _, _ in copies))
        first, positions = self.chain.head + 1, Counter[str]()
        mined = []
        for mutation, number, sweep_id in copies:
            one = Mined(number, first + lies.index(mutation.name), positions[mutation.name])
            positions[mutation.name] += 1
            mined.append((mutation, one, sweep_id))
        subjects = [Subject(mutation, Told(original, one), sweep_id) for mutation, one, sweep_id in mined]
        for mutation, one, _ in mined:
            if mutation.happened:
                self.chain.execute(one.number, one.number, one.height)
        told = [Lie(one.told, one.mutation.changes) for one in subjects]
        for node in self.nodes:
            node.lies = told if node.is_liar else []
        self.chain.skip(len(lies))
        return subjects

    def tell_the_truth(self) -> None:
        for node in self.nodes:
            node.lies = []


def chain_id(network: str) -> int:
    """Return the id of a network's chain."""
    return CHAIN_ID + int(network.removeprefix(CHAIN) or 0)


@contextmanager
def running(original: Original, liars: Sequence[bool], *, nth: int) -> Iterator[Mapping[str, Network]]:
    """Serve the nodes of all networks, by their names.

    The blocks of the nth run are above those of the runs before it, which were reconciled as final.
    """
    networks = {}
    for name in dict.fromkeys(NETWORKS.values()):
        chain = Chain(chain_id(name), original)
        chain.skip(nth * BLOCKS_OF_A_RUN)
        networks[name] = Network(chain, [LyingNode(chain, is_liar=is_liar) for is_liar in liars])
    nodes = [node for network in networks.values() for node in network.nodes]
    with serving(nodes) as urls:
        remaining = iter(urls)
        for network in networks.values():
            network.urls = [next(remaining) for _ in network.nodes]
        yield networks


def environment(networks: Mapping[str, Network], folder: Path) -> dict[str, str]:
    """Write the chains file, and return what the service's processes need to read these networks."""
    local = Path(os.environ["CHAINS_FILE"]).read_text(encoding="utf-8")
    file = folder / "chains.toml"
    file.write_text("\n".join(_facts(local, name) for name in networks), encoding="utf-8")
    urls = {f"RPC_URLS_{name.upper()}": ",".join(network.urls) for name, network in networks.items()}
    return {"CHAINS_FILE": str(file), **urls}


def _facts(local: str, network: str) -> str:
    """Return the facts of the local chain under another name and id."""
    renamed = local.replace(f"[chains.{CHAIN}]", f"[chains.{network}]").replace(
        f"[chains.{CHAIN}.", f"[chains.{network}."
    )
    return renamed.replace(f"chain_id = {CHAIN_ID}\n", f"chain_id = {chain_id(network)}\n")
