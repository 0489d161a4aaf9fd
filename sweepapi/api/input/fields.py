"""Serializer fields that take JSON literally, without conversion or trimming, and that document what they take."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi import fields as columns
from sweepapi.fields import UINT256_MAX, BadChecksumError, checksum_address, normal_hash
from sweepapi.solana.encoding.addresses import public_key

U64_MAX = 2**64 - 1

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_AMOUNT = re.compile(r"[1-9][0-9]{0,77}", re.ASCII)
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)
_NOT_A_STRING = "This must be a string."


class StrictIntegerField(serializers.IntegerField):
    """A JSON integer; ``"50"``, ``50.0`` and ``true`` are refused."""

    default_error_messages = {"invalid_type": "This must be an integer."}

    def to_internal_value(self, data: object) -> int:
        """Return the integer unchanged."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid_type")
        return data


class StrictBooleanField(serializers.BooleanField):
    """A JSON boolean; ``"true"`` and ``1`` are refused."""

    default_error_messages = {"invalid_type": "This must be true or false."}

    def to_internal_value(self, data: object) -> bool:
        """Return the boolean unchanged."""
        if not isinstance(data, bool):
            self.fail("invalid_type")
        return data


class StrictCharField(serializers.CharField):
    """A JSON string, taken as it is."""

    default_error_messages = {"invalid_type": _NOT_A_STRING}

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 DRF's own
        super().__init__(**{"trim_whitespace": False, **kwargs})

    def run_validation(self, data: Any = serializers.empty) -> Any:  # noqa: ANN401 DRF's own
        """Refuse other types before DRF turns them into text, and what is too long before anything looks at it."""
        if data is not None and data is not serializers.empty and not isinstance(data, str):
            self.fail("invalid_type")
        if isinstance(data, str) and self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().run_validation(data)


class StrictChoiceField(serializers.ChoiceField):
    """One of a few words; the answer to another one does not repeat it, however long it is."""

    default_error_messages = {"invalid_choice": "This must be one of: {choices}."}

    def to_internal_value(self, data: object) -> Any:  # noqa: ANN401 DRF's own
        """Return the word."""
        if not isinstance(data, str) or data not in self.choice_strings_to_values:
            self.fail("invalid_choice", choices=", ".join(self.choice_strings_to_values))
        return self.choice_strings_to_values[data]


@extend_schema_field(
    {"type": "string", "pattern": "^[1-9][0-9]{0,77}$", "examples": ["25000000"], "description": "uint256, not zero"}
)
class AmountField(StrictCharField):
    """An amount in a token's smallest unit: a decimal string from 1 to 2^256 - 1; an int in Python."""

    default_error_messages = {
        "invalid_format": "This must be a positive decimal integer: digits only, no sign, no leading zeros.",
        "out_of_range": "This exceeds the maximum of {maximum}.",
    }
    maximum = UINT256_MAX

    def to_internal_value(self, data: str) -> int:  # type: ignore[override]
        """Return the amount."""
        if not _AMOUNT.fullmatch(data):
            self.fail("invalid_format")
        amount = int(data)
        if amount > self.maximum:
            self.fail("out_of_range", maximum=self.maximum)
        return amount

    def to_representation(self, value: int) -> str:  # type: ignore[override]
        """Return the decimal string."""
        return str(value)


@extend_schema_field(
    {"type": "string", "pattern": "^[1-9][0-9]{0,19}$", "examples": ["25000000"], "description": "u64, not zero"}
)
class SolanaAmountField(AmountField):
    """An amount on Solana, whose token programs count in 64 bits."""

    maximum = U64_MAX


@extend_schema_field({"type": "string", "pattern": "^(0|[1-9][0-9]{0,77})$", "examples": ["25000000"]})
class AmountOutputField(serializers.Field[int, str, str, Any]):
    """An amount in a response: a decimal string in the token's smallest unit."""

    def to_representation(self, value: int) -> str:
        """Return the decimal string."""
        return str(value)


@extend_schema_field({"type": "string", "pattern": "^-?(0|[1-9][0-9]{0,79})$", "examples": ["25000000"]})
class SignedAmountOutputField(AmountOutputField):
    """A sum in a response, which may be below zero."""


@extend_schema_field({"type": "string", "pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$", "examples": ["25.5"]})
class WholeTokensField(serializers.CharField):
    """An amount in whole tokens, exactly, in a response."""


@extend_schema_field(
    {
        "type": "string",
        "pattern": "^0x[0-9a-fA-F]{40}$",
        "examples": ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
        "description": "EVM address",
    }
)
class EvmAddressField(StrictCharField):
    """An EVM address in lower, upper or checksum case; EIP-55 in Python and in responses."""

    default_error_messages = {
        "invalid_format": "An address is 0x followed by 40 hex digits.",
        "bad_checksum": "This mixed-case address does not match its EIP-55 checksum.",
    }

    def to_internal_value(self, data: str) -> str:
        """Return the EIP-55 form."""
        try:
            return checksum_address(data)
        except BadChecksumError:
            self.fail("bad_checksum")
        except ValueError:
            self.fail("invalid_format")


@extend_schema_field(
    {
        "type": "string",
        "pattern": "^0x[0-9a-fA-F]{64}$",
        "examples": ["0xcc34ef733b8d502b098225ac606aa9d0544c89db9b12e70082e7e4f361bedfee"],
        "description": "32 bytes",
    }
)
class HashField(StrictCharField):
    """A 32-byte hash in any case; lower case in Python and in responses."""

    default_error_messages = {"invalid_format": "A hash is 0x followed by 64 hex digits."}

    def to_internal_value(self, data: str) -> str:
        """Return the hash in lower case."""
        try:
            return normal_hash(data)
        except ValueError:
            self.fail("invalid_format")


@extend_schema_field(
    {
        "type": "string",
        "pattern": "^[1-9A-HJ-NP-Za-km-z]{32,44}$",
        "examples": ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"],
        "description": "32 bytes in base58",
    }
)
class SolanaKeyField(StrictCharField):
    """The key of an account on Solana, which has only one spelling."""

    default_error_messages = {"invalid_format": "A Solana key is 32 bytes in base58."}

    def to_internal_value(self, data: str) -> str:
        """Return the key unchanged."""
        try:
            return str(public_key(data))
        except ValueError:
            self.fail("invalid_format")


class SolanaWalletField(SolanaKeyField):
    """The key of an account on Solana that can sign."""

    default_error_messages = {"off_curve": "This key is not on the curve, so no wallet can sign for it."}

    def to_internal_value(self, data: str) -> str:
        """Return the key unchanged."""
        key = super().to_internal_value(data)
        if not public_key(key).is_on_curve():
            self.fail("off_curve")
        return key


@extend_schema_field({"type": "string", "pattern": f"^({columns.AccountAddressField.pattern})$"})
class WalletField(StrictCharField):
    """A wallet on a chain of any family; in its canonical form in Python."""

    default_error_messages = {
        "invalid_format": "A wallet is 0x followed by 40 hex digits, or on Solana 32 bytes in base58.",
    }

    def to_internal_value(self, data: str) -> str:
        """Return the wallet in EIP-55 form, or the key unchanged."""
        if data.startswith("0x"):
            return EvmAddressField().to_internal_value(data)
        try:
            return str(public_key(data))
        except ValueError:
            self.fail("invalid_format")


class TokenField(WalletField):
    """A token on a chain of any family; in its canonical form in Python."""

    default_error_messages = {
        "invalid_format": "A token is 0x followed by 40 hex digits, or on Solana 32 bytes in base58.",
    }


@extend_schema_field({"type": "string", "pattern": f"^(0x[0-9a-fA-F]{{64}}|{columns.TransactionHashField.pattern})$"})
class AnyTransactionHashField(StrictCharField):
    """The hash of a transaction, in any case, or its first signature on Solana; in its canonical form in Python."""

    default_error_messages = {
        "invalid_format": "A transaction hash is 0x followed by 64 hex digits, or on Solana 64 bytes in base58.",
    }

    def to_internal_value(self, data: str) -> str:
        """Return the hash in lower case, or the signature unchanged."""
        try:
            return columns.TransactionHashField.canonical(data)
        except ValueError:
            self.fail("invalid_format")


@extend_schema_field({"type": "string", "format": "uuid"})
class UuidTextField(StrictCharField):
    """A UUID in its canonical text form."""

    default_error_messages = {"invalid_format": "A UUID is 36 characters: lower-case hex digits in five groups."}

    def to_internal_value(self, data: str) -> UUID:  # type: ignore[override]
        """Return the UUID."""
        if not _UUID.fullmatch(data):
            self.fail("invalid_format")
        return UUID(data)


class UtcDateTimeField(serializers.DateTimeField):
    """A time as RFC 3339 with an offset; UTC with ``Z`` in responses."""

    default_error_messages = {
        "invalid_format": "Use RFC 3339 with an offset, such as 2026-01-31T12:00:00Z.",
    }

    def to_internal_value(self, value: object) -> datetime:
        """Return the time in UTC."""
        if not isinstance(value, str) or not _RFC3339.fullmatch(value):
            self.fail("invalid_format")
        try:
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail("invalid_format")

    def to_representation(self, value: datetime | None) -> str | None:  # type: ignore[override]
        """Return the time in UTC, with microseconds if they are not zero."""
        return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


class ConstantField(serializers.CharField):
    """A word in a response that is always the same."""

    def __init__(self, *, value: str, **kwargs: Any) -> None:  # noqa: ANN401 DRF's own
        super().__init__(**kwargs)
        extend_schema_field({"type": "string", "const": value})(self)  # type: ignore[type-var]  # any object will do


class OpenEnumField(serializers.CharField):
    """A word in a response from a set that may grow: clients learn today's values, and must accept others."""

    def __init__(self, *, values: Iterable[str], **kwargs: Any) -> None:  # noqa: ANN401 DRF's own
        super().__init__(**kwargs)
        extend_schema_field({"type": "string", "examples": list(values)})(self)  # type: ignore[type-var]  # any object will do


@extend_schema_field(
    {
        "type": "string",
        "pattern": f"^({columns.AccountAddressField.pattern})$",
        "examples": ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"],
        "description": "EVM address, or on Solana the base58 key of an account",
    }
)
class AccountAddressResponseField(serializers.CharField):
    """A wallet or a token in a response, on a network of any family."""


@extend_schema_field(
    {
        "type": "string",
        "pattern": f"^({columns.TransactionHashField.pattern})$",
        "examples": ["0xcc34ef733b8d502b098225ac606aa9d0544c89db9b12e70082e7e4f361bedfee"],
        "description": "Hash of a transaction, or on Solana its first signature in base58",
    }
)
class TransactionHashResponseField(serializers.CharField):
    """A transaction in a response, on a network of any family."""
