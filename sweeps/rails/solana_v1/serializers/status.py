"""The clusters' part of the service status."""

from rest_framework import serializers

from sweepapi.networks import SOLANA_BUILD_MODE
from sweeps.rails.solana_v1.availability import ClusterStatus


class ClusterSerializer(serializers.Serializer[ClusterStatus]):
    """One cluster that sweeps can be built on."""

    name = serializers.CharField(source="cluster.name")
    network = serializers.CharField(source="cluster.network", help_text="The cluster's CAIP-2 identifier.")
    genesisHash = serializers.CharField(source="cluster.genesis_hash")
    buildMode = serializers.ChoiceField(
        source="build_mode", choices=[SOLANA_BUILD_MODE], help_text="The mode in which new sweeps are built on it."
    )
    available = serializers.BooleanField(source="is_available", help_text="Whether sweeps can be built on it now.")
    nativeToken = serializers.CharField(source="cluster.native_symbol", help_text="Symbol of the cluster's coin.")
    blockExplorerUrl = serializers.CharField(source="cluster.block_explorer_url")
    recheckSeconds = serializers.IntegerField(
        source="cluster.recheck_seconds", help_text="From look to look at a sweep that blocks may still change."
    )
