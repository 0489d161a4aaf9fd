"""How the service's own status is answered."""

from typing import Any

from rest_framework import serializers

from sweepapi.api.fields import EvmAddressField


class RouterSerializer(serializers.Serializer[Any]):
    """A router that sweeps may go through."""

    name = serializers.CharField()
    kind = serializers.CharField()
    address = EvmAddressField()


class ContractsSerializer(serializers.Serializer[Any]):
    """Where the contracts are; null where there is none."""

    v5 = EvmAddressField(allow_null=True)
    v4 = EvmAddressField(allow_null=True)
    permit2 = EvmAddressField()


class FinalitySerializer(serializers.Serializer[Any]):
    """When a block counts: a tag of the chain, or a number of blocks below the head."""

    safe = serializers.CharField()
    final = serializers.CharField()
    recheckSeconds = serializers.IntegerField()


class ChainSerializer(serializers.Serializer[Any]):
    """One chain that sweeps can be built on."""

    name = serializers.CharField()
    chainId = serializers.IntegerField()
    available = serializers.BooleanField()
    nativeToken = serializers.CharField(help_text="Symbol of the chain's coin.")
    wrappedNativeToken = EvmAddressField()
    blockExplorerUrl = serializers.CharField()
    contracts = ContractsSerializer()
    routers = RouterSerializer(many=True)
    finality = FinalitySerializer()


class FeeFactsSerializer(serializers.Serializer[Any]):
    """The platform fee, in basis points of the gross output."""

    totalFeeBps = serializers.IntegerField()
    bpsDenominator = serializers.IntegerField()
    hardCapBps = serializers.IntegerField(help_text="What the contract allows at most.")


class LimitsSerializer(serializers.Serializer[Any]):
    """What a build may ask for."""

    maxTokens = serializers.IntegerField()
    minSlippageBps = serializers.IntegerField()
    maxSlippageBps = serializers.IntegerField()
    authorizationTtlSeconds = serializers.IntegerField()


class IndexerSerializer(serializers.Serializer[Any]):
    """How submitted transactions are followed."""

    firstCheckSeconds = serializers.IntegerField()
    backoffFactor = serializers.IntegerField()
    maxDelaySeconds = serializers.IntegerField()
    fallbackProviders = serializers.BooleanField()


class ServiceStatusSerializer(serializers.Serializer[Any]):
    """The service as it is now."""

    version = serializers.CharField()
    available = serializers.BooleanField()
    evmBuildMode = serializers.CharField()
    chains = ChainSerializer(many=True)
    fees = FeeFactsSerializer()
    limits = LimitsSerializer()
    indexer = IndexerSerializer()
