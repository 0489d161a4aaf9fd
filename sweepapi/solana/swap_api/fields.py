"""The kinds of fields in a swap API's answers; each reader raises ``SwapApiError`` if the value is of another kind."""

import base64
import re
from decimal import ROUND_CEILING, Decimal
from typing import Any, NoReturn

from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey

from sweepapi.fees import BPS_DENOMINATOR
from sweepapi.solana.encoding.addresses import public_key
from sweepapi.solana.swap_api.quotes import SwapApiError
from sweepapi.text import clean

MAX_AMOUNT = 2**64 - 1
# No transaction holds more: 1232 bytes, and as many accounts as the cluster locks for one.
MAX_DATA_BYTES = 1232
MAX_ACCOUNTS = 64
MAX_LOOKUP_TABLES = 16
_AMOUNT = re.compile(r"0|[1-9][0-9]{0,19}")
_RATIO = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,60})?([eE]-[0-9]{1,2})?")


def mapping(value: object, name: str) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse(name, "not an object")


def items(value: object, name: str, longest: int) -> list[Any]:
    """Return a list; null and an absent field are empty ones."""
    if value is None:
        return []
    if not isinstance(value, list):
        _refuse(name, "not a list")
    return value if len(value) <= longest else _refuse(name, "too long")


def text(value: object, name: str, longest: int) -> str:
    """Return text that can be shown: its printable characters, shortened."""
    if not isinstance(value, str):
        _refuse(name, "not text")
    return clean(value, longest)


def amount(value: object, name: str) -> int:
    if not isinstance(value, str) or _AMOUNT.fullmatch(value) is None or int(value) > MAX_AMOUNT:
        _refuse(name, "not an amount")
    return int(value)


def key(value: object, name: str) -> Pubkey:
    try:
        return public_key(value)  # type: ignore[arg-type]  # what is not text raises TypeError
    except (TypeError, ValueError):
        _refuse(name, "not a key")


def quantity(value: object, most: float) -> float | None:
    """Return a number from zero to this that nothing but an order depends on; None for all else that is there."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        return None
    return float(value)


def ratio_bps(value: object, name: str) -> int | None:
    """Return a decimal ratio without its sign in basis points, rounded up; None if the field is null or absent."""
    if value is None:
        return None
    if not isinstance(value, str) or _RATIO.fullmatch(value) is None:
        _refuse(name, "not a ratio")
    return int((abs(Decimal(value)) * BPS_DENOMINATOR).to_integral_value(ROUND_CEILING))


def instruction(value: object, name: str) -> Instruction:
    parts = mapping(value, name)
    accounts = items(parts.get("accounts"), f"{name}.accounts", MAX_ACCOUNTS)
    return Instruction(
        key(parts.get("programId"), f"{name}.programId"),
        _data(parts.get("data"), f"{name}.data"),
        [_account(account, f"{name}.accounts") for account in accounts],
    )


def lookup_tables(value: object, name: str) -> tuple[str, ...]:
    """Return the keys of the lookup tables; what they hold is read from the cluster, and not here."""
    tables = {} if value is None else mapping(value, name)
    if len(tables) > MAX_LOOKUP_TABLES:
        _refuse(name, "too many")
    return tuple(str(key(table, name)) for table in tables)


def _account(value: object, name: str) -> AccountMeta:
    parts = mapping(value, name)
    return AccountMeta(
        key(parts.get("pubkey"), f"{name}.pubkey"),
        is_signer=_flag(parts.get("isSigner"), f"{name}.isSigner"),
        is_writable=_flag(parts.get("isWritable"), f"{name}.isWritable"),
    )


def _flag(value: object, name: str) -> bool:
    return value if isinstance(value, bool) else _refuse(name, "neither true nor false")


def _data(value: object, name: str) -> bytes:
    try:
        data = base64.b64decode(value, validate=True)  # type: ignore[arg-type]  # what is not text raises TypeError
    except (TypeError, ValueError):
        _refuse(name, "not base64")
    return data if len(data) <= MAX_DATA_BYTES else _refuse(name, "too long")


def _refuse(name: str, problem: str) -> NoReturn:
    raise SwapApiError(f"{name} in the swap API's answer is {problem}")
