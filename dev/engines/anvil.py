"""anvil, from the binary that npm brings: the local chain, one block a transaction.

Its clock is the machine's, read when a block is made: an idle chain stands still.
"""

from pathlib import Path

from dev.chain.rpc import Rpc
from dev.engines.machine import free_port
from dev.errors import NodeError, NotInstalledError
from dev.process import Program
from dev.supervisor import Supervisor

CHAIN_ID = 31337
# How far `safe` and `finalized` lie below the head: near enough to be reached without mining for long, far enough that
# what goes by the wrong one of the three shows. (Ethereum's lie about 32 and 64 blocks below.)
SAFE_DEPTH_BLOCKS = 4
FINAL_DEPTH_BLOCKS = 2 * SAFE_DEPTH_BLOCKS
# States of older blocks are forgotten; on disk, where they would go, each is a megabyte. A run of the tests makes fewer
# than this, those counted that are taken back after each test; each takes a sixth of a megabyte of memory.
_STATES_KEPT = 5_000
_PACKAGES = Path(__file__).parents[2] / "contracts" / "node_modules" / "@foundry-rs"


def start(supervisor: Supervisor) -> Rpc:
    """Start an empty chain; returns its endpoint."""
    rpc = Rpc(f"http://127.0.0.1:{free_port()}")
    listen = ["--host", "127.0.0.1", "--port", rpc.url.rpartition(":")[2], "--chain-id", str(CHAIN_ID)]
    finality = ["--slots-in-an-epoch", str(SAFE_DEPTH_BLOCKS)]
    memory = ["--prune-history", str(_STATES_KEPT)]
    program = Program(
        name="anvil",
        argv=[str(_binary()), *listen, *finality, *memory, "--accounts", "1", "--silent"],
        log=supervisor.folder / "anvil.log",
    )
    supervisor.start(program, ready=lambda: _answers(rpc))
    return rpc


def _binary() -> Path:
    found = sorted(_PACKAGES.glob("anvil-*/bin/anvil"))  # npm installs the package of this machine's system only
    if not found:
        raise NotInstalledError("anvil is not installed: `make demo` brings it")
    return found[0]


def _answers(rpc: Rpc) -> bool:
    try:
        return bool(rpc.call("eth_chainId") == hex(CHAIN_ID))
    except NodeError:
        return False
