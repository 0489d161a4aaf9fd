"""The JSON of the service's own status; it contains no provider's URL and no secret."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.schema import example
from sweeps.rails.registry import V2, V2_MODES
from sweeps.service_status import ServiceStatus


class PlatformFeeSerializer(serializers.Serializer[Any]):
    """The platform fee, in basis points of the gross output."""

    totalFeeBps = serializers.IntegerField(source="total_fee_bps")
    bpsDenominator = serializers.IntegerField(source="bps_denominator")
    hardCapBps = serializers.IntegerField(source="hard_cap_bps", help_text="The maximum that the contract allows.")


class BuildLimitsSerializer(serializers.Serializer[Any]):
    """The limits of a build."""

    maxTokens = serializers.IntegerField(source="max_tokens")
    minSlippageBps = serializers.IntegerField(source="min_slippage_bps")
    maxSlippageBps = serializers.IntegerField(source="max_slippage_bps")
    authorizationTtlSeconds = serializers.IntegerField(source="authorization_ttl_seconds")


class IndexerSerializer(serializers.Serializer[Any]):
    """How submitted transactions are followed."""

    firstCheckSeconds = serializers.IntegerField(source="first_check_seconds")
    backoffFactor = serializers.IntegerField(source="backoff_factor")
    maxDelaySeconds = serializers.IntegerField(source="max_delay_seconds")
    fallbackProviders = serializers.BooleanField(source="fallback_providers")


@extend_schema_serializer(
    examples=[example(Path(__file__).parent / "examples" / "service_status.json", "One chain, available")]
)
class ServiceStatusSerializer(serializers.Serializer[ServiceStatus]):
    """The service as it is now."""

    version = serializers.CharField()
    available = serializers.BooleanField(source="is_available", help_text="Whether any chain is available.")
    evmBuildMode = serializers.ChoiceField(
        source="default_build_mode",
        choices=V2_MODES,
        help_text="The mode of chains without one of their own; `buildMode` is that of each chain.",
    )
    chains = V2.network(many=True)
    fees = PlatformFeeSerializer(source="*")
    limits = BuildLimitsSerializer(source="*")
    indexer = IndexerSerializer(source="*")
