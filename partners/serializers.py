"""The JSON of a partner, as the partner sees it."""

from datetime import datetime
from pathlib import Path
from typing import Any

from django.utils import timezone
from django.utils.functional import cached_property
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from partners.models import SCOPES, FeeShare, Partner
from sweepapi import networks
from sweepapi.api.input.fields import AccountAddressResponseField, HashField, UtcDateTimeField
from sweepapi.api.openapi.schema import example
from sweepapi.modes import Mode, mode_of


class PartnerRecipientSerializer(serializers.Serializer[Any]):
    """The wallet that receives the partner's fees on one chain."""

    chain = serializers.CharField()
    chainId = serializers.IntegerField(allow_null=True, help_text="Null on Solana.")
    address = AccountAddressResponseField(
        allow_null=True, help_text="Null on Solana until we have a wallet of yours there."
    )


class NextFeeShareSerializer(serializers.Serializer[FeeShare]):
    """A scheduled share of the platform fee."""

    feeShareBps = serializers.IntegerField(source="share_bps", help_text="In basis points.")
    effectiveFrom = UtcDateTimeField(source="effective_from", help_text="Sweeps built from this time on have it.")


@extend_schema_serializer(
    examples=[example(Path(__file__).parent / "examples" / "partner.json", "A partner on one chain")]
)
class PartnerSerializer(serializers.Serializer[Partner]):
    """The partner of an API key, and what the key may do. It needs the ``requester`` in its context."""

    id = serializers.UUIDField()
    onchainId = HashField(
        source="onchain_id", help_text="The id in contracts and events: the UUID's 16 bytes, then 16 zero bytes."
    )
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=Partner.Status.choices)
    feeShareBps = serializers.SerializerMethodField(
        help_text="The partner's current share of the platform fee, in basis points."
    )
    nextFeeShare = serializers.SerializerMethodField(
        help_text="The next scheduled share, if any. What is built before its time keeps the earlier one."
    )
    recipients = serializers.SerializerMethodField()
    mode = serializers.SerializerMethodField(help_text="Test keys reach sandbox chains only, live keys all others.")
    scopes = serializers.SerializerMethodField(help_text="What the key may do.")

    @cached_property
    def _now(self) -> datetime:
        """One time for the whole answer: a share that becomes effective meanwhile is either current or next."""
        return timezone.now()

    def get_feeShareBps(self, partner: Partner) -> int:  # noqa: N802 - named after its field
        return partner.share_bps_at(self._now)

    @extend_schema_field(NextFeeShareSerializer(allow_null=True))
    def get_nextFeeShare(self, partner: Partner) -> dict[str, object] | None:  # noqa: N802 - named after its field
        share = partner.next_share_after(self._now)
        return None if share is None else NextFeeShareSerializer(share).data

    @extend_schema_field(PartnerRecipientSerializer(many=True))
    def get_recipients(self, partner: Partner) -> list[dict[str, object]]:
        """Return the recipient on each enabled chain that the key reaches."""
        chains = [(chain.name, chain.chain_id, chain.network) for chain in networks.current().enabled]
        clusters = [(cluster.name, None, cluster.network) for cluster in networks.current().enabled_clusters]
        return [
            {"chain": name, "chainId": chain_id, "address": partner.recipient_on(network)}
            for name, chain_id, network in (*chains, *clusters)
            if mode_of(network) == self.context["requester"].mode
        ]

    @extend_schema_field(serializers.ChoiceField(choices=Mode.choices))
    def get_mode(self, _partner: Partner) -> str:
        return str(self.context["requester"].mode)

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(choices=SCOPES)))
    def get_scopes(self, _partner: Partner) -> list[str]:
        return [scope for scope in SCOPES if scope in self.context["requester"].scopes]
