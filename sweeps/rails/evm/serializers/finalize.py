"""What a wallet signed, as clients send it in any of its spellings, and the transaction that is finished with it."""

import re
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from sweepapi.api.input.budgets import Room
from sweepapi.api.input.fields import (
    AmountOutputField,
    EvmAddressField,
    OpenEnumField,
    StrictChoiceField,
    UtcDateTimeField,
)
from sweepapi.api.input.lists import StrictListField
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.api.openapi.schema import example
from sweepapi.evm.chain.sending import V_OFFSET
from sweepapi.evm.contracts.batch import MAX_LEGS
from sweepapi.evm.wallet.accounts import AccountCode
from sweepapi.evm.wallet.signatures import MAX_SIGNATURE_BYTES
from sweepapi.evm.worth.ways import WayKind
from sweeps.rails.evm.finalize.finalizing import Signed
from sweeps.rails.evm.serializers.answer import EXAMPLES
from sweeps.rails.evm.serializers.transactions import DATA_FEE_HELP, HexField

SIGNED_EXECUTIONS = [WayKind.PERMITS.value, WayKind.PERMIT2.value]
MAX_SIGNATURES = MAX_LEGS + 1  # a permit of each token, and the one for Permit2
_HEX = re.compile(r"(?:0[xX])?([0-9a-fA-F]*)", re.ASCII)
_WORD_DIGITS = 64
BAD_MEMBER = "r and s have up to 64 hex digits, v is 0, 1, 27 or 28, yParity is 0 or 1; there is nothing else."
_SIGNATURE = (
    "0x6b1f8a2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
    "1f2e3d4c5b6a79880716253443526170f8e9dacbbcad9e8f7061524334251607"
    "1b"
)
_WORD = {"type": "string", "pattern": "^(0[xX])?[0-9a-fA-F]{1,64}$"}
# Which of the two points a signature means, as wallets and libraries write it.
_EVEN_PARITIES, _ODD_PARITIES = [0, "0", "0x0", "0x00"], [1, "1", "0x1", "0x01"]
_EVEN_VS, _ODD_VS = [*_EVEN_PARITIES, 27, "27", "0x1b"], [*_ODD_PARITIES, 28, "28", "0x1c"]
_JSON_TYPES = {"integer": int, "string": str}
_VALUES = {"v": (_EVEN_VS, _ODD_VS), "yParity": (_EVEN_PARITIES, _ODD_PARITIES)}


def _one_of(values: list[Any]) -> dict[str, Any]:
    """Return the schema of these integers and texts, apart, because generators take no enum of both."""
    by_type = {name: [value for value in values if isinstance(value, kind)] for name, kind in _JSON_TYPES.items()}
    return {"anyOf": [{"type": name, "enum": found} for name, found in by_type.items()]}


def _object(**parity: list[Any]) -> dict[str, Any]:
    """Return the schema of a signature as an object that says by these members which of the two points it means."""
    members = {"r": _WORD, "s": _WORD, **{name: _one_of(values) for name, values in parity.items()}}
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


@extend_schema_field(
    {
        "oneOf": [
            {
                "type": "string",
                "pattern": "^(0[xX])?([0-9a-fA-F]{2})*$",
                "minLength": 2,
                "maxLength": 2 * MAX_SIGNATURE_BYTES + 2,
            },
            _object(v=[*_EVEN_VS, *_ODD_VS]),
            _object(yParity=[*_EVEN_PARITIES, *_ODD_PARITIES]),
            _object(v=_EVEN_VS, yParity=_EVEN_PARITIES),
            _object(v=_ODD_VS, yParity=_ODD_PARITIES),
        ]
    }
)
class SignatureField(serializers.Field[bytes, Any, str, Any]):
    """A signature as hex, or as an object of r, s, and v or yParity; bytes in Python. No error repeats it."""

    room = Room(names=4)
    default_error_messages = {
        "invalid_type": "A signature is a string, or an object with r, s, and v or yParity.",
        "invalid_format": "A signature is an even number of hex digits, with or without 0x.",
        "too_long": f"A signature has at most {MAX_SIGNATURE_BYTES} bytes.",
    }

    def to_internal_value(self, data: Any) -> bytes:  # noqa: ANN401 DRF's own
        """Return the bytes; of an object r, s and v in 65 bytes."""
        if isinstance(data, Mapping):
            return self._of_members(data)
        if not isinstance(data, str):
            self.fail("invalid_type")
        digits = _HEX.fullmatch(data)
        if not data or digits is None or len(digits[1]) % 2:
            self.fail("invalid_format")
        if len(digits[1]) > 2 * MAX_SIGNATURE_BYTES:
            self.fail("too_long")
        return bytes.fromhex(digits[1])

    def _of_members(self, members: Mapping[str, Any]) -> bytes:
        words = [self._word(members.get(name)) for name in ("r", "s")]
        parities = {self._parity(value, *_VALUES[name]) for name, value in members.items() if name in _VALUES}
        if len(parities) != 1 or not members.keys() <= {"r", "s", *_VALUES}:
            raise ValidationError(BAD_MEMBER, code="invalid_format")
        return b"".join(words) + bytes([V_OFFSET + parities.pop()])

    def _word(self, value: object) -> bytes:
        digits = _HEX.fullmatch(value) if isinstance(value, str) else None
        if digits is None or not 0 < len(digits[1]) <= _WORD_DIGITS:
            raise ValidationError(BAD_MEMBER, code="invalid_format")
        return bytes.fromhex(digits[1].rjust(_WORD_DIGITS, "0"))

    def _parity(self, value: object, even: list[Any], odd: list[Any]) -> int:
        # Python takes true and 1.0 for 1.
        if type(value) not in (int, str) or value not in [*even, *odd]:
            raise ValidationError(BAD_MEMBER, code="invalid_format")
        return int(value in odd)


@extend_schema_serializer(
    component_name="FinalizeRequest",
    examples=[
        OpenApiExample("Sign for Permit2", value={"execution": "permit2", "signatures": [_SIGNATURE]}),
        OpenApiExample(
            "The same as an object",
            value={
                "execution": "permit2",
                "signatures": [{"r": _SIGNATURE[:66], "s": f"0x{_SIGNATURE[66:130]}", "yParity": 0}],
            },
        ),
    ],
)
class FinalizeRequestSerializer(StrictSerializer):
    """What the wallet returned for the typed data of one of `executions`."""

    execution = StrictChoiceField(
        choices=SIGNED_EXECUTIONS,
        help_text="The `kind` of the execution. The others have nothing to be signed beforehand.",
    )
    signatures = StrictListField(
        child=SignatureField(),
        min_length=1,
        max_length=MAX_SIGNATURES,
        help_text="What the wallet returned for each of the execution's `typedData`, in order: hex digits with or "
        "without 0x, or an object of r, s, and v or yParity. An account with code may sign up to 16 KiB for Permit2. A "
        "signature for an earlier offer of the sweep is good for this one.",
    )


def signed_of(body: Mapping[str, Any]) -> Signed:
    """Return what a validated body has that was signed."""
    return Signed(WayKind(body["execution"]), body["signatures"])


class WalletCodeSerializer(serializers.Serializer[Any]):
    """The user's account now, which may be another than when the sweep was built."""

    code = serializers.ChoiceField(source="kind", choices=[kind.value for kind in AccountCode])
    delegate = EvmAddressField(allow_null=True, help_text="Null unless delegated (EIP-7702).")


class FinishedTransactionSerializer(serializers.Serializer[Any]):
    """The sweep's transaction with the signatures in it."""

    chainId = serializers.IntegerField(source="chain.chain_id")
    # A field can't be called "from" in Python, so it is added in get_fields.
    to = EvmAddressField(source="contract")
    value = AmountOutputField()
    data = HexField(source="calldata")  # type: ignore[assignment]  # DRF takes declared fields out of the class
    gas = AmountOutputField(help_text="The gas limit to send, measured with the signatures in place, with a margin.")
    dataFee = AmountOutputField(source="data_fee", allow_null=True, help_text=DATA_FEE_HELP)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {**super().get_fields(), "from": EvmAddressField(source="sweep.wallet")}


class FinishedSimulationSerializer(serializers.Serializer[Any]):
    """What the chain does with the finished transaction now; one that would revert is not answered."""

    gasUsed = AmountOutputField(
        source="gas_used",
        allow_null=True,
        help_text="As the receipt would show it; null where no provider has eth_simulateV1.",
    )
    grossOutput = AmountOutputField(source="gross_output", allow_null=True, help_text="Before the fee; null as above.")


@extend_schema_serializer(
    component_name="FinalizedSweep", examples=[example(EXAMPLES / "finalized.json", "A sweep of one token")]
)
class FinalizedSweepSerializer(serializers.Serializer[Any]):
    """A transaction that is ready to be sent; of a contract wallet, the call that it makes."""

    sweepId = serializers.UUIDField(source="sweep.id")
    chain = serializers.CharField(source="chain.name")
    execution = OpenEnumField(source="kind", values=SIGNED_EXECUTIONS)
    wallet = WalletCodeSerializer()
    transaction = FinishedTransactionSerializer(source="*")
    simulation = FinishedSimulationSerializer(source="*")
    expiresAt = UtcDateTimeField(source="sweep.deadline", help_text="Send it before; later it reverts.")
    expiresInSeconds = serializers.IntegerField(
        source="expires_in_seconds", min_value=0, help_text="Seconds left until then by the chain's clock."
    )
