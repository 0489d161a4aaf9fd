"""The secrets of the local world: generated once and kept under var/, readable by their owner only."""

import json
import os
import secrets
from base64 import b32encode
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eth_account import Account
from solders.keypair import Keypair

USER_COUNT = 5
SOLANA_USER_COUNT = 3


@dataclass(frozen=True)
class Keys:
    """Private keys are 0x hex, on Solana base58; the other secrets are random strings."""

    secret_key: str
    api_key_pepper: str
    database_owner_password: str
    database_runtime_password: str
    database_console_password: str
    redis_password: str
    console_secret_key: str
    admin_password: str
    admin_totp_secret: str  # Base32
    webhook_key: str
    proof_key: str
    fee_signer: str
    deployer: str  # admin of the contracts until the handover
    owner: str  # and configurator
    guardian: str
    ops: str
    protocol_recipient: str
    partner_payouts: tuple[str, str]
    users: tuple[str, ...]
    swap_api_key: str
    solana_maker: str  # of the local swap API
    solana_fee_wallet: str
    solana_partner_payouts: tuple[str, ...]
    solana_users: tuple[str, ...]


def load_or_create(path: Path) -> Keys:
    """Return the keys in this file, and generate those it lacks."""
    generated = asdict(_generate())
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _write_temporary(path, generated)
        with suppress(FileExistsError):  # another first run linked its file before us: use that one
            path.hardlink_to(temporary)
        temporary.unlink()
    stored = json.loads(path.read_text())
    if stored.keys() != generated.keys():  # an older checkout wrote the file
        stored = {name: stored.get(name, value) for name, value in generated.items()}
        _write_temporary(path, stored).rename(path)
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return Keys(**fields)


def _write_temporary(path: Path, keys: dict[str, Any]) -> Path:
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.touch(mode=0o600)
    temporary.write_text(json.dumps(keys))
    return temporary


def address_of(private_key: str) -> str:
    address: str = Account.from_key(private_key).address
    return address


def _generate() -> Keys:
    def key() -> str:
        return "0x" + secrets.token_hex(32)

    return Keys(
        secret_key=secrets.token_urlsafe(50),
        api_key_pepper=secrets.token_hex(32),
        database_owner_password=secrets.token_hex(16),
        database_runtime_password=secrets.token_hex(16),
        database_console_password=secrets.token_hex(16),
        redis_password=secrets.token_hex(16),
        console_secret_key=secrets.token_urlsafe(50),
        admin_password=secrets.token_urlsafe(12),
        admin_totp_secret=b32encode(secrets.token_bytes(20)).decode(),
        webhook_key=secrets.token_hex(32),
        proof_key=secrets.token_hex(32),
        fee_signer=key(),
        deployer=key(),
        owner=key(),
        guardian=key(),
        ops=key(),
        protocol_recipient=key(),
        partner_payouts=(key(), key()),
        users=tuple(key() for _ in range(USER_COUNT)),
        swap_api_key=secrets.token_hex(16),
        solana_maker=str(Keypair()),
        solana_fee_wallet=str(Keypair()),
        solana_partner_payouts=(str(Keypair()), str(Keypair())),
        solana_users=tuple(str(Keypair()) for _ in range(SOLANA_USER_COUNT)),
    )
