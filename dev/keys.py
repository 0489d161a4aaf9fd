"""The secrets of the local world, made at random once and kept under var/ for their owner's eyes only."""

import json
import os
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eth_account import Account

USER_COUNT = 5


@dataclass(frozen=True)
class Keys:
    """Private keys as 0x hex; the rest are random strings."""

    secret_key: str
    api_key_pepper: str
    database_owner_password: str
    database_runtime_password: str
    redis_password: str
    admin_password: str
    fee_signer: str
    deployer: str  # rules the contracts until they are handed over
    owner: str  # and configurator
    guardian: str
    ops: str
    protocol_recipient: str
    partner_payouts: tuple[str, str]
    users: tuple[str, ...]


def load_or_make(path: Path) -> Keys:
    """Return the keys kept in this file; those that it lacks are made now."""
    made = asdict(_make())
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = _draft(path, made)  # two first runs at once must agree: the later link loses
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    kept = json.loads(path.read_text())
    if kept.keys() != made.keys():  # kept by an older checkout
        kept = {name: kept.get(name, value) for name, value in made.items()}
        _draft(path, kept).rename(path)
    return Keys(**{**kept, "partner_payouts": tuple(kept["partner_payouts"]), "users": tuple(kept["users"])})


def _draft(path: Path, keys: dict[str, Any]) -> Path:
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(keys))
    return draft


def address_of(private_key: str) -> str:
    """Return the EIP-55 address of a private key."""
    address: str = Account.from_key(private_key).address
    return address


def _make() -> Keys:
    def key() -> str:
        return "0x" + secrets.token_hex(32)

    return Keys(
        secret_key=secrets.token_urlsafe(50),
        api_key_pepper=secrets.token_hex(32),
        database_owner_password=secrets.token_hex(16),
        database_runtime_password=secrets.token_hex(16),
        redis_password=secrets.token_hex(16),
        admin_password=secrets.token_urlsafe(12),
        fee_signer=key(),
        deployer=key(),
        owner=key(),
        guardian=key(),
        ops=key(),
        protocol_recipient=key(),
        partner_payouts=(key(), key()),
        users=tuple(key() for _ in range(USER_COUNT)),
    )
