"""How the service's own status is answered; no provider's URL and no secret is in it."""

from typing import Any

from rest_framework import serializers

from sweeps.rails.registry import V2
from sweeps.service_status import ServiceStatus


class FeeFactsSerializer(serializers.Serializer[Any]):
    """The platform fee, in basis points of the gross output."""

    totalFeeBps = serializers.IntegerField(source="total_fee_bps")
    bpsDenominator = serializers.IntegerField(source="bps_denominator")
    hardCapBps = serializers.IntegerField(source="hard_cap_bps", help_text="What the contract allows at most.")


class LimitsSerializer(serializers.Serializer[Any]):
    """What a build may ask for."""

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


class ServiceStatusSerializer(serializers.Serializer[ServiceStatus]):
    """The service as it is now."""

    version = serializers.CharField()
    available = serializers.BooleanField(source="is_available")
    evmBuildMode = serializers.CharField(source="build_mode")
    chains = V2.network(many=True)
    fees = FeeFactsSerializer(source="*")
    limits = LimitsSerializer(source="*")
    indexer = IndexerSerializer(source="*")
