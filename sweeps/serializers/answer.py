"""The parts of a build's answer that do not depend on the rail."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from ledger.models import Settlement
from sweepapi.api.input.fields import AmountOutputField
from sweeps.shown.parts import FEE_MODES

WARNING_CODES = (
    "symbol_differs",
    "router_swap",
    "price_impact_high",
    "value_loss_high",
    "no_signatures",
    "data_cost_unknown",
    "signature_uncertain",
)

SECONDS_LEFT = (
    "Seconds left until `expiresAt` by the chain's clock, whatever those of client and service say; 0 once it has "
    "passed. Left out of the answer to a request with an `Idempotency-Key`, which is repeated byte for byte."
)


@extend_schema_field(serializers.ChoiceField(choices=list(FEE_MODES.values())))
class FeeModeField(serializers.Field[str, str, str, Any]):
    """Whether the sweep itself pays the partner, or the partner's share is accounted for and paid out later."""

    def to_representation(self, settlement: str) -> str:
        return FEE_MODES[Settlement(settlement)]


@extend_schema_field(serializers.CharField(allow_null=True, help_text="As in the build; null if it had none."))
class ClientReferenceOutputField(serializers.Field[str, str, str | None, Any]):
    """The partner's own reference of a sweep."""

    def to_representation(self, reference: str) -> str | None:
        return reference or None


class OutputAmountsSerializer(serializers.Serializer[Any]):
    """The expected and minimum output, before the fee and for the user; each family adds the token's field."""

    symbol = serializers.CharField(source="planned.output.symbol")
    decimals = serializers.IntegerField(source="planned.output.decimals")
    gross = AmountOutputField(source="planned.expected.gross_output")
    minGross = AmountOutputField(source="planned.minimum.gross_output")
    user = AmountOutputField(source="planned.expected.user_amount")
    minUser = AmountOutputField(source="planned.minimum.user_amount")


class FeeSummarySerializer(serializers.Serializer[Any]):
    """The fee terms, and the fee at the expected output; in every mode."""

    totalFeeBps = serializers.IntegerField(source="fees.total_fee_bps")
    partnerShareBps = serializers.IntegerField(source="fees.partner_share_bps")
    totalFee = AmountOutputField(source="expected.total_fee")
    partnerFee = AmountOutputField(source="expected.partner_fee")
    protocolFee = AmountOutputField(source="expected.protocol_fee")
    userAmount = AmountOutputField(source="expected.user_amount")
