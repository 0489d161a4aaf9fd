"""What discover searched for the tokens of a wallet."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from sweepapi.api.input.fields import OpenEnumField
from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.wallet.holdings.coverage import Coverage, SourceStatus
from sweepapi.evm.wallet.holdings.sources import Cut


class SourceCoverageSerializer(serializers.Serializer[Any]):
    """What one source contributed: addresses only, since balances and names are read from the chain."""

    source = OpenEnumField(  # type: ignore[assignment]  # which DRF's fields have as well
        source="name",
        values=list(HoldingsSource),
        help_text="`candidates`: your request; `token_list`: the tokens that the service lists; `transfer_logs`: what "
        "the wallet received in some blocks; `alchemy` and `blockscout`: services that know the tokens of wallets. New "
        "values may be added.",
    )
    status = OpenEnumField(
        values=list(SourceStatus),
        help_text="`complete`: it named all that it knows; `partial`; `unavailable`: it named nothing.",
    )
    cutBy = OpenEnumField(
        source="cut",
        values=list(Cut),
        allow_null=True,
        help_text="Why it is not `complete`: `blocks`, only some are searched; `time`; `count`, it names too many; "
        "`circle`, its pages repeat; `failure`; `pause`, it was not asked because it failed again and again. New "
        "values may be added.",
    )
    tokens = serializers.IntegerField(source="token_count", help_text="How many addresses of it were looked at.")
    fromBlock = serializers.IntegerField(
        source="first_block", allow_null=True, help_text="The first block that was searched. Null without blocks."
    )
    toBlock = serializers.IntegerField(source="last_block", allow_null=True, help_text="The last one.")


class CoverageSerializer(serializers.Serializer[Coverage]):
    """What was searched for this page; without a cursor, the first one."""

    complete = serializers.BooleanField(
        source="is_complete",
        help_text="Whether a source that knows all tokens of a wallet was read to its last page, and no token that it "
        "named is left for a later page. If not, the wallet may hold tokens that are not shown.",
    )
    sources = SourceCoverageSerializer(
        many=True, help_text="Those that were asked, in their order; empty if a page shows what was found before."
    )
    tokensLeft = serializers.IntegerField(
        source="left_count", help_text="How many tokens that the wallet seems to hold are left for later pages."
    )
    nextCursor = serializers.SerializerMethodField(
        method_name="sealed_place",
        help_text="Send it as `cursor` to go on with what was not looked at: the tokens that are left, further pages, "
        "and older blocks. It may have 150,000 characters, and can be sent again if a source was `unavailable`. Null "
        "if there is nothing to go on with.",
    )

    @extend_schema_field({"type": ["string", "null"]})
    def sealed_place(self, coverage: Coverage) -> str | None:
        """Return the cursor, sealed for who asked and about what."""
        if coverage.following is None:
            return None
        cursor: str = self.context["scope"].seal(coverage.following.encode())
        return cursor
