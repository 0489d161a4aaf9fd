"""The JSON of the service's own status; it contains no provider's URL and no secret."""

from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.openapi.schema import example
from sweeps.heartbeats import Presence
from sweeps.rails.registry import V1, V2, V2_MODES
from sweeps.service_status import OfferedOutputToken, ServiceStatus

EXAMPLES = Path(__file__).parent / "examples"


class PlatformFeeSerializer(serializers.Serializer[Any]):
    """The platform fee, in basis points of the gross output."""

    totalFeeBps = serializers.IntegerField(source="total_fee_bps")
    bpsDenominator = serializers.IntegerField(source="bps_denominator")
    hardCapBps = serializers.IntegerField(
        source="hard_cap_bps", help_text="The highest fee that is allowed; on EVM chains the contract enforces it."
    )


class SharedLimitsSerializer(serializers.Serializer[Any]):
    """The limits of a build on any network."""

    maxTokens = serializers.IntegerField(source="max_tokens")
    minSlippageBps = serializers.IntegerField(source="min_slippage_bps")
    maxSlippageBps = serializers.IntegerField(source="max_slippage_bps")


class SolanaLimitsSerializer(SharedLimitsSerializer):
    """The limits of a build on Solana, whose transactions expire with their blockhash."""

    expiryGraceSeconds = serializers.IntegerField(
        source="expiry_grace_seconds",
        help_text="About how long a sweep is still awaited once its blockhash is too old, because a newer one may have "
        "been put in; then it is called expired.",
    )


class BuildLimitsSerializer(SharedLimitsSerializer):
    """The limits of a build on an EVM chain."""

    authorizationTtlSeconds = serializers.IntegerField(source="authorization_ttl_seconds")


class IndexerSerializer(serializers.Serializer[Any]):
    """How submitted transactions are followed."""

    firstCheckSeconds = serializers.IntegerField(source="first_check_seconds")
    backoffFactor = serializers.IntegerField(source="backoff_factor")
    maxDelaySeconds = serializers.IntegerField(source="max_delay_seconds")
    fallbackProviders = serializers.BooleanField(source="fallback_providers")


class WorkerSerializer(serializers.Serializer[Presence]):
    """The worker, without which a sweep changes only when its transaction is confirmed."""

    available = serializers.BooleanField(
        source="is_at_work", help_text="Whether it was at work within the last seconds."
    )
    awaySince = serializers.DateTimeField(
        source="away_since",
        allow_null=True,
        help_text="When it was last at work. Null if it is available, and if it is away and that is not known.",
    )


class SharedStatusSerializer(serializers.Serializer[ServiceStatus]):
    """What both versions of the API say about themselves."""

    version = serializers.CharField()
    available = serializers.BooleanField(source="is_available", help_text="Whether any chain is available.")
    fees = PlatformFeeSerializer(source="*")
    indexer = IndexerSerializer(source="*")
    worker = WorkerSerializer()


@extend_schema_serializer(examples=[example(EXAMPLES / "service_status.json", "One chain, available")])
class ServiceStatusSerializer(SharedStatusSerializer):
    """/v2 as it is now."""

    evmBuildMode = serializers.ChoiceField(
        source="default_build_mode",
        choices=V2_MODES,
        help_text="The mode of chains without one of their own; `buildMode` is that of each chain.",
    )
    chains = V2.network(many=True)
    limits = BuildLimitsSerializer(source="*")


@extend_schema_serializer(examples=[example(EXAMPLES / "solana_status.json", "One chain, available")])
class SolanaServiceStatusSerializer(SharedStatusSerializer):
    """/v1 as it is now."""

    chains = V1.network(many=True)
    limits = SolanaLimitsSerializer(source="*")


class OutputTokenSerializer(serializers.Serializer[OfferedOutputToken]):
    """A token that sweeps can end in."""

    chain = serializers.CharField(source="cluster.name")
    network = serializers.CharField(source="cluster.network", help_text="The chain's CAIP-2 identifier.")
    mint = serializers.CharField(source="token.mint")
    symbol = serializers.CharField(source="token.symbol")
    decimals = serializers.IntegerField(source="token.decimals")
    isNative = serializers.BooleanField(
        source="is_native", help_text="Whether the user receives the chain's own coin, not the token that wraps it."
    )


@extend_schema_serializer(
    many=False,  # the list is in an object
    examples=[example(EXAMPLES / "output_tokens.json", "The tokens of one chain")],
)
class OutputTokensSerializer(serializers.Serializer[Any]):
    """The tokens that sweeps on Solana can end in."""

    tokens = OutputTokenSerializer(many=True)
