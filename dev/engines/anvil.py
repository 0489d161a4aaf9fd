"""anvil, from the binary in its npm package: the local chain, one block per transaction.

A block takes its time from the machine's clock; between blocks the chain's time does not advance.
"""

from pathlib import Path

from dev.chain.rpc import Rpc
from dev.ports import free_port
from dev.processes.errors import NodeError, NotInstalledError
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor

CHAIN_ID = 31337
# How far `safe` and `finalized` are below the head: few blocks to mine, and enough that code which reads the wrong one
# of the three fails a test. (On Ethereum they are about 32 and 64 blocks below.)
SAFE_DEPTH_BLOCKS = 4
FINAL_DEPTH_BLOCKS = 2 * SAFE_DEPTH_BLOCKS
# anvil drops the states of older blocks; it would write each to disk, a megabyte per block. A test run must mine fewer
# blocks than this, including those that tests roll back: the blocks to which they roll back are the oldest. Each takes
# a sixth of a megabyte of memory.
_STATES_KEPT = 16_000
_PACKAGES = Path(__file__).parents[2] / "contracts" / "node_modules" / "@foundry-rs"


def start(supervisor: Supervisor, *, safe_depth_blocks: int = SAFE_DEPTH_BLOCKS) -> Rpc:
    """Start an empty chain, whose finalized block is twice as deep as the safe one; returns a client for it."""
    rpc = Rpc(f"http://127.0.0.1:{free_port()}")
    listen = ["--host", "127.0.0.1", "--port", rpc.url.rpartition(":")[2], "--chain-id", str(CHAIN_ID)]
    finality = ["--slots-in-an-epoch", str(safe_depth_blocks)]
    memory = ["--prune-history", str(_STATES_KEPT)]
    program = Program(
        name="anvil",
        argv=[str(_binary()), *listen, *finality, *memory, "--accounts", "1", "--silent"],
        log=supervisor.folder / "anvil.log",
    )
    supervisor.start(program, ready=lambda: _answers(rpc))
    return rpc


def _binary() -> Path:
    found = sorted(_PACKAGES.glob("anvil-*/bin/anvil"))  # npm installs the package of this platform only
    if not found:
        raise NotInstalledError("anvil is not installed: run `make demo` to install it")
    return found[0]


def _answers(rpc: Rpc) -> bool:
    try:
        return bool(rpc.call("eth_chainId") == hex(CHAIN_ID))
    except NodeError:
        return False
