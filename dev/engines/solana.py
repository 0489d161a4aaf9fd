"""The local Solana cluster and its swap API.

surfpool is a node for any client; our own cluster has only the methods of the service, and forks on demand.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from spl.token.constants import WRAPPED_SOL_MINT

from dev.chain.rpc import Rpc
from dev.engines import surfpool
from dev.keys import Keys
from dev.ports import free_port
from dev.processes.errors import NodeError
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from dev.solana.bank import GENESIS_HASH, Bank
from dev.solana.clusters_file import CLUSTER, render
from dev.solana.market import PRICES_MICRO_USD, SOLD_THROUGH_SOL, accounts, lookup_table, mints, open_market
from sweepapi.solana.cluster.clusters import load_clusters

CLUSTERS_FILE = "clusters.toml"
MAKER_FILE = "maker.json"
# The local swap API has no limit.
REQUESTS_PER_MINUTE = 100_000


@dataclass(frozen=True)
class LocalCluster:
    """A running cluster, and who has an account on it."""

    rpc_url: str
    ws_url: str | None  # None: our own cluster has none
    genesis_hash: str
    swap_api_url: str
    swap_api_key: str
    clusters_file: Path
    fee_wallet: Keypair
    users: tuple[Keypair, ...]
    payout_wallets: tuple[Pubkey, ...]  # of the partners

    @property
    def network(self) -> str:
        """The cluster's CAIP-2 identifier."""
        return load_clusters(self.clusters_file)[CLUSTER].network

    def environment(self) -> dict[str, str]:
        """Return the service's environment variables that concern Solana."""
        return {
            f"RPC_URLS_{CLUSTER.upper()}": self.rpc_url,
            "CLUSTERS_FILE": str(self.clusters_file),
            "SOLANA_FEE_WALLET": str(self.fee_wallet.pubkey()),
            "SWAP_API_URL": self.swap_api_url,
            "SWAP_API_KEY": self.swap_api_key,
            "SWAP_API_REQUESTS_PER_MINUTE": str(REQUESTS_PER_MINUTE),
        }

    def describe(self) -> dict[str, Any]:
        """Return the cluster's part of world.json."""
        return {
            "rpcUrl": self.rpc_url,
            "wsUrl": self.ws_url,
            "swapApiUrl": self.swap_api_url,
            "genesisHash": self.genesis_hash,
            "mints": {
                symbol: {"mint": str(mint), "decimals": decimals} for symbol, (mint, decimals) in mints().items()
            },
            "feeWallet": _with_key(self.fee_wallet),
            "users": [_with_key(user) for user in self.users],
        }


@dataclass(frozen=True)
class _Wallets:
    """Who has accounts when a cluster starts."""

    fee_wallet: Keypair
    maker: Keypair
    users: tuple[Keypair, ...]

    @classmethod
    def of(cls, keys: Keys) -> "_Wallets":
        return cls(
            fee_wallet=Keypair.from_base58_string(keys.solana_fee_wallet),
            maker=Keypair.from_base58_string(keys.solana_maker),
            users=tuple(Keypair.from_base58_string(key) for key in keys.solana_users),
        )


def start(supervisor: Supervisor, keys: Keys) -> LocalCluster:
    """Start surfpool with users who have tokens, and a swap API; writes clusters.toml to the state folder."""
    wallets, bank, node = _Wallets.of(keys), Bank(), surfpool.start(supervisor)
    open_market(
        bank,
        fee_wallet=wallets.fee_wallet.pubkey(),
        maker=wallets.maker.pubkey(),
        users=[user.pubkey() for user in wallets.users],
    )
    for key, account in accounts(bank):
        node.set_account(key, account)
    return _serve(supervisor, keys, node.rpc, ws_url=node.ws_url, genesis_hash=node.genesis_hash)


def start_forking(supervisor: Supervisor, keys: Keys) -> LocalCluster:
    """Do as ``start`` with our own cluster, which forks and ages on demand."""
    rpc = Rpc(f"http://127.0.0.1:{free_port()}")
    supervisor.start(_cluster_program(supervisor, rpc, _Wallets.of(keys)), ready=lambda: _answers(rpc))
    return _serve(supervisor, keys, rpc, ws_url=None, genesis_hash=str(GENESIS_HASH))


def _serve(supervisor: Supervisor, keys: Keys, rpc: Rpc, *, ws_url: str | None, genesis_hash: str) -> LocalCluster:
    """Start the swap API of a cluster, and write what the service reads of both."""
    wallets, swap_port, clusters_file = _Wallets.of(keys), free_port(), supervisor.folder / CLUSTERS_FILE
    clusters_file.write_text(render(genesis_hash))
    cluster = LocalCluster(
        rpc_url=rpc.url,
        ws_url=ws_url,
        genesis_hash=genesis_hash,
        swap_api_url=f"http://127.0.0.1:{swap_port}",
        swap_api_key=keys.swap_api_key,
        clusters_file=clusters_file,
        fee_wallet=wallets.fee_wallet,
        users=wallets.users,
        payout_wallets=tuple(Keypair.from_base58_string(key).pubkey() for key in keys.solana_partner_payouts),
    )
    maker_file = _write_maker(supervisor, rpc, wallets.maker)
    swap_api = Program(
        name="swap-api",
        argv=[sys.executable, "-m", "dev.solana.swap_api", str(swap_port), str(maker_file)],
        log=supervisor.folder / "swap-api.log",
    )
    supervisor.start(swap_api, ready=lambda: _listens(cluster.swap_api_url))
    return cluster


def _cluster_program(supervisor: Supervisor, rpc: Rpc, wallets: _Wallets) -> Program:
    named = ["--fee-wallet", str(wallets.fee_wallet.pubkey()), "--maker", str(wallets.maker.pubkey())]
    for user in wallets.users:
        named += ["--user", str(user.pubkey())]
    return Program(
        name="solana",
        argv=[sys.executable, "-m", "dev.solana", "--port", rpc.url.rpartition(":")[2], *named],
        log=supervisor.folder / "solana.log",
    )


def _write_maker(supervisor: Supervisor, rpc: Rpc, maker: Keypair) -> Path:
    """Write what the swap API's process needs; only the file's owner may read the maker's key."""
    facts = {
        "rpcUrl": rpc.url,
        "makerKey": str(maker),
        "lookupTables": [str(lookup_table())],
        "prices": {
            str(mint): {
                "decimals": decimals,
                "microUsd": PRICES_MICRO_USD[symbol],
                "through": str(WRAPPED_SOL_MINT) if symbol in SOLD_THROUGH_SOL else None,
            }
            for symbol, (mint, decimals) in mints().items()
        },
    }
    file = supervisor.folder / MAKER_FILE
    file.touch(mode=0o600)
    file.write_text(json.dumps(facts, indent=2) + "\n")
    return file


def _with_key(keypair: Keypair) -> dict[str, str]:
    return {"address": str(keypair.pubkey()), "privateKey": str(keypair)}


def _answers(rpc: Rpc) -> bool:
    try:
        return bool(rpc.call("getGenesisHash") == str(GENESIS_HASH))
    except NodeError:
        return False


def _listens(swap_api_url: str) -> bool:
    """Whether the swap API answers at all; it refuses a request without a key."""
    try:
        requests.get(swap_api_url, timeout=5)
    except requests.ConnectionError:
        return False
    return True
