"""Starts PostgreSQL, Redis and the chain under a supervisor, and writes a JSON file that says where everything is."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.chain.catalog import TOKENS, WRAPPED_DECIMALS
from dev.chain.chains_file import CHAIN
from dev.chain.deploy import Deployment, deploy
from dev.engines import anvil, postgres, redis
from dev.keys import Keys, address_of, load_or_create
from dev.processes.supervisor import Supervisor

VAR = Path(__file__).parents[1] / "var"
CHAINS_FILE = "chains.toml"


@dataclass(frozen=True)
class World:
    """A running database, broker and chain, and the contracts deployed to it."""

    folder: Path
    keys: Keys
    databases: postgres.Urls
    redis_url: str
    rpc_url: str
    deployment: Deployment

    @property
    def world_file(self) -> Path:
        """The JSON description of this world."""
        return self.folder / "world.json"

    @property
    def snippets_file(self) -> Path:
        """The variables of the documentation's snippets, for a shell."""
        return self.folder / "world.env"

    @property
    def chains_file(self) -> Path:
        """The chain's public facts, as the service reads them."""
        return self.folder / CHAINS_FILE

    def environment(self, *, database_url: str) -> dict[str, str]:
        """Return the service's environment variables."""
        return {
            "DATABASE_URL": database_url,
            "REDIS_URL": self.redis_url,
            "SECRET_KEY": self.keys.secret_key,
            "API_KEY_PEPPER": self.keys.api_key_pepper,
            "FEE_SIGNER_KEY": self.keys.fee_signer,
            "WEBHOOK_KEYS": self.keys.webhook_key,
            "PROOF_KEY": self.keys.proof_key,
            "WEBHOOK_ALLOW_PRIVATE": "true",
            f"RPC_URLS_{CHAIN.upper()}": self.rpc_url,
            f"SANDBOX_RPC_URL_{CHAIN.upper()}": self.rpc_url,
            "CHAINS_FILE": str(self.chains_file),
            "SERVICE_EVM_BUILD_MODE": "v5_partner_fees",
            "RATE_LIMIT_FACTOR": "1000",
            "ALLOWED_HOSTS": "127.0.0.1,localhost",
            "INSECURE_HTTP": "true",
            "DEBUG": "false",
            "DEV_WORLD_FILE": str(self.world_file),
        }

    def write_description(self, extra: dict[str, Any]) -> None:
        """Write world.json with some extra fields; only the file's owner may read its private keys."""
        self.world_file.touch(mode=0o600)
        self.world_file.write_text(json.dumps({**self.describe(), **extra}, indent=2) + "\n")

    def write_snippet_variables(self, variables: Mapping[str, str]) -> None:
        """Write world.env; only its owner may read it."""
        self.snippets_file.touch(mode=0o600)
        self.snippets_file.write_text(exported(variables))

    def describe(self) -> dict[str, Any]:
        """Return the fields of world.json that do not depend on the service."""
        decimals = {token.symbol: token.decimals for token in TOKENS} | {"WETH": WRAPPED_DECIMALS}
        return {
            "rpcUrl": self.rpc_url,
            "chain": CHAIN,
            "chainId": anvil.CHAIN_ID,
            "tokens": {
                symbol: {"address": address, "decimals": decimals[symbol]}
                for symbol, address in self.deployment.tokens.items()
            },
            "users": [{"address": address_of(key), "privateKey": key} for key in self.keys.users],
            "contracts": self.deployment.contracts,
            "roles": {
                name: {"address": address_of(key), "privateKey": key}
                for name, key in (("owner", self.keys.owner), ("guardian", self.keys.guardian), ("ops", self.keys.ops))
            },
        }


def snippet_variables(described: dict[str, Any], *, base_url: str, api_key: str, wallet_url: str) -> dict[str, str]:
    """Return the variables that the documentation's snippets use; ``described`` is a world.json."""
    user, tokens = described["users"][0], described["tokens"]
    return {
        "BASE_URL": base_url,
        "API_KEY": api_key,
        "CHAIN": described["chain"],
        "RPC_URL": described["rpcUrl"],
        "WALLET_URL": wallet_url,
        "WALLET": user["address"],
        "WALLET_KEY": user["privateKey"],
        "OUTPUT_TOKEN": tokens["WETH"]["address"],
    }


def exported(variables: Mapping[str, str]) -> str:
    """Return lines of a shell that set these variables."""
    return "".join(f"export {name}={value}\n" for name, value in variables.items())


def start(supervisor: Supervisor, *, safe_depth_blocks: int = anvil.SAFE_DEPTH_BLOCKS) -> World:
    """Start the servers that the environment does not provide, deploy, and write chains.toml to the state folder."""
    keys = load_or_create(VAR / "keys.json")
    rpc = anvil.start(supervisor, safe_depth_blocks=safe_depth_blocks)
    return World(
        folder=supervisor.folder,
        keys=keys,
        databases=_databases(supervisor, keys),
        redis_url=os.environ.get("REDIS_URL") or redis.start(supervisor, password=keys.redis_password),
        rpc_url=rpc.url,
        deployment=deploy(rpc, keys, supervisor.folder / CHAINS_FILE),
    )


def _databases(supervisor: Supervisor, keys: Keys) -> postgres.Urls:
    given = os.environ.get("DATABASE_URL")
    if given:
        return postgres.Urls(owner=given, runtime=given, console=given)
    return postgres.start(
        supervisor,
        owner_password=keys.database_owner_password,
        runtime_password=keys.database_runtime_password,
        console_password=keys.database_console_password,
    )
