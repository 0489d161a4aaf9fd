"""surfpool, from its npm package: a Solana node for ordinary clients, with HTTP, WebSocket and real time.

It runs the same LiteSVM as our own cluster, so its accounts at the start are those of a bank.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from solders.account import Account
from solders.pubkey import Pubkey

from dev.chain.rpc import Rpc
from dev.node import node_folder
from dev.processes.errors import NotInstalledError
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.solana.bank import SLOT_SECONDS

SLOT_MILLISECONDS = round(SLOT_SECONDS * 1000)  # a block is final after six seconds, a blockhash lives half a minute
_FOLDER = Path(__file__).parents[1] / "surfpool"
_RENT_EPOCH = 2**64 - 1  # as in every account on mainnet: none pays rent


@dataclass(frozen=True)
class Surfpool:
    """A running node."""

    rpc: Rpc
    ws_url: str
    genesis_hash: str  # another one at every start

    def set_account(self, key: Pubkey, account: Account) -> None:
        """Write an account without a transaction."""
        fields = {
            "lamports": account.lamports,
            "owner": str(account.owner),
            "data": account.data.hex(),
            "executable": account.executable,
            "rentEpoch": _RENT_EPOCH,
        }
        self.rpc.call("surfnet_setAccount", str(key), fields)


def start(supervisor: Supervisor, *, slot_milliseconds: int = SLOT_MILLISECONDS) -> Surfpool:
    """Start a node without any accounts but those of its programs; returns when it answers."""
    if not (_FOLDER / "node_modules").exists():
        raise NotInstalledError("surfpool is not installed: run `make demo` to install it")
    urls = supervisor.folder / "surfpool.json"
    urls.unlink(missing_ok=True)
    argv = [str(node_folder() / "node"), str(_FOLDER / "serve.cjs"), str(slot_milliseconds), str(urls)]
    program = Program(name="solana", argv=argv, log=supervisor.folder / "solana.log")
    supervisor.start(program, ready=urls.exists)
    served = json.loads(urls.read_text(encoding="utf-8"))
    rpc = Rpc(served["rpcUrl"])
    return Surfpool(rpc=rpc, ws_url=served["wsUrl"], genesis_hash=rpc.call("getGenesisHash"))
