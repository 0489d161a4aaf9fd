"""The EVM chains' part of the service status."""

from typing import Any

from rest_framework import serializers

from sweepapi.api.input.fields import EvmAddressField, OpenEnumField
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.pools.sources import SOURCES
from sweeps.rails.evm.availability import ChainStatus
from sweeps.rails.evm.serializers.answer import MODES


class RouterSerializer(serializers.Serializer[Any]):
    """A router that sweeps may go through."""

    name = serializers.CharField()
    kind = OpenEnumField(values=list(SOURCES))
    address = EvmAddressField()


class VenueSerializer(serializers.Serializer[Any]):
    """A family of pools that the contracts call directly."""

    id = serializers.IntegerField(help_text="As in the calldata of a sweep.")
    name = serializers.CharField()
    kind = OpenEnumField(values=list(SOURCES))
    factory = EvmAddressField()


class ChainContractsSerializer(serializers.Serializer[Chain]):
    """The addresses of the contracts; null where one is not deployed."""

    v5 = EvmAddressField(source="v5_contract", allow_null=True)
    v4 = EvmAddressField(source="v4_contract", allow_null=True)
    permit2 = EvmAddressField()


class ChainFinalitySerializer(serializers.Serializer[Any]):
    """When a block counts as safe and as final: a block tag, or a number of blocks below the head."""

    safe = serializers.CharField()
    final = serializers.CharField()
    recheckSeconds = serializers.IntegerField(source="recheck_seconds")


class ChainSerializer(serializers.Serializer[ChainStatus]):
    """One chain that sweeps can be built on."""

    name = serializers.CharField(source="chain.name")
    chainId = serializers.IntegerField(source="chain.chain_id")
    buildMode = serializers.ChoiceField(
        source="build_mode", choices=MODES, help_text="The mode in which new sweeps are built on this chain."
    )
    available = serializers.BooleanField(
        source="is_available", help_text="Whether sweeps can be built on this chain now, in its mode."
    )
    sandbox = serializers.BooleanField(
        source="chain.sandbox", help_text="Whether test keys reach it; live keys reach all others."
    )
    nativeToken = serializers.CharField(source="chain.native_symbol", help_text="Symbol of the chain's coin.")
    wrappedNativeToken = EvmAddressField(source="chain.wrapped_native")
    blockExplorerUrl = serializers.CharField(source="chain.block_explorer_url")
    contracts = ChainContractsSerializer(source="chain")
    venues = VenueSerializer(source="chain.venues", many=True)
    routers = RouterSerializer(source="chain.routers", many=True)
    finality = ChainFinalitySerializer(source="chain.finality")
