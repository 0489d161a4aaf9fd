"""The Solana clusters' part of the service status."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi import networks
from sweepapi.api.input.fields import SolanaKeyField
from sweepapi.networks import SOLANA_BUILD_MODE
from sweepapi.solana.cluster.clusters import Cluster
from sweeps.rails.solana_v1.availability import ClusterStatus


class ClusterFinalitySerializer(serializers.Serializer[Cluster]):
    """The commitments at which a transaction counts as included and as final."""

    included = serializers.CharField(default="confirmed")
    final = serializers.CharField(default="finalized")
    recheckSeconds = serializers.IntegerField(source="recheck_seconds")


class ClusterSerializer(serializers.Serializer[ClusterStatus]):
    """One chain that sweeps can be built on."""

    name = serializers.CharField(source="cluster.name")
    network = serializers.CharField(source="cluster.network", help_text="The chain's CAIP-2 identifier.")
    genesisHash = SolanaKeyField(source="cluster.genesis_hash")
    buildMode = serializers.ChoiceField(
        source="build_mode", choices=[SOLANA_BUILD_MODE], help_text="The mode in which new sweeps are built on it."
    )
    available = serializers.BooleanField(
        source="is_available", help_text="Whether sweeps can be built on this chain now."
    )
    sandbox = serializers.BooleanField(
        source="cluster.sandbox", help_text="Whether test keys reach it; live keys reach all others."
    )
    nativeToken = serializers.CharField(source="cluster.native_symbol", help_text="Symbol of the chain's coin.")
    blockExplorerUrl = serializers.CharField(source="cluster.block_explorer_url")
    protocolRecipient = serializers.SerializerMethodField(help_text="The wallet that is paid the platform fee.")
    swapPrograms = serializers.SerializerMethodField(
        help_text="The programs that a sweep may call, in addition to the system and token programs."
    )
    maxPriorityFeeLamports = serializers.IntegerField(
        source="cluster.max_priority_fee_lamports", help_text="The highest priority fee of one transaction."
    )
    finality = ClusterFinalitySerializer(source="cluster")

    @extend_schema_field(serializers.ListField(child=SolanaKeyField()))
    def get_swapPrograms(self, status: ClusterStatus) -> list[str]:  # noqa: N802 - named after its field
        return sorted(status.cluster.swap_programs)

    def get_protocolRecipient(self, _status: object) -> str:  # noqa: N802 - as above
        return networks.current().fee_wallet
