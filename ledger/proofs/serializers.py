"""The JSON of statements and of the proofs in them, and the queries for both."""

import re
from pathlib import Path
from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from ledger.models import Account
from ledger.serializers import RecordSerializer
from ledger.statements.month import Month
from sweepapi.api.input.fields import AccountAddressResponseField, AmountOutputField, StrictCharField
from sweepapi.api.input.pagination import PageQuery, QuerySerializer
from sweepapi.api.openapi.schema import example

EXAMPLES = Path(__file__).parents[1] / "examples"
MONTH = {"type": "string", "pattern": "^2[0-9]{3}-(0[1-9]|1[0-2])$", "examples": ["2026-11"]}
_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_COUNT = "0|[1-9][0-9]{0,17}"


@extend_schema_field({"type": "string", "pattern": f"^({_COUNT}|{_UUID})$", "examples": ["41"]})
class EntryNameField(StrictCharField):
    """An entry by its id or its number, which is an int in Python."""

    default_error_messages = {"invalid_format": "This must be the id or the number of an entry."}

    def to_internal_value(self, data: str) -> str | int:  # type: ignore[override]
        """Return the id as text, or the number."""
        if re.fullmatch(_COUNT, data):
            return int(data)
        if not re.fullmatch(_UUID, data):
            self.fail("invalid_format")
        return data


@extend_schema_field({"type": "string", "pattern": f"^({_COUNT})$|{MONTH['pattern']}", "examples": ["2026-10"]})
class EarlierTreeField(StrictCharField):
    """An earlier state of the tree by its month, or by its size, which is an int in Python."""

    default_error_messages = {"invalid_format": "This must be a month such as 2026-11, or a number of entries."}

    def to_internal_value(self, data: str) -> Month | int:  # type: ignore[override]
        """Return the month or the size."""
        if re.fullmatch(_COUNT, data):
            return int(data)
        try:
            return Month.parse(data)
        except ValueError:
            self.fail("invalid_format")


class StatementQuery(PageQuery):
    """Which part of a statement's records to return."""

    cursor = StrictCharField(required=False, help_text="nextCursor of the previous page; omit for the first.")


class ProofQuery(QuerySerializer):
    """What to prove: that an entry is in the tree of a statement, that the tree continues an earlier one, or both."""

    entry = EntryNameField(required=False, help_text="The id of an entry, or its number.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add ``from``, which is a Python keyword."""
        earlier = EarlierTreeField(
            required=False, source="earlier", help_text="An earlier month, or the size of the tree then."
        )
        return {**super().get_fields(), "from": earlier}


class TreeStateSerializer(serializers.Serializer[Any]):
    """The state of your tree after some entries."""

    size = serializers.IntegerField(help_text="How many entries it has.")
    root = serializers.CharField(help_text="32 bytes as hex.")  # type: ignore[assignment]  # DRF takes declared fields out of the class


class FormerTreeSerializer(TreeStateSerializer):
    """The state of your tree at the end of the month before."""

    hashes = serializers.ListField(
        child=serializers.CharField(),
        help_text="Of the largest complete subtrees that it consists of, from left to right: with the records of this "
        "statement they give its root.",
    )


class AccountTotalSerializer(serializers.Serializer[Any]):
    """What the month moved on one account."""

    network = serializers.CharField(help_text="As CAIP-2 spells it, such as eip155:8453.")
    token = AccountAddressResponseField()
    account = serializers.ChoiceField(choices=Account.Name.choices)
    debit = AmountOutputField()
    credit = AmountOutputField()


@extend_schema_serializer(examples=[example(EXAMPLES / "statement.json", "A month with one entry")])
class StatementSerializer(serializers.Serializer[Any]):
    """A month of your ledger that is over, with the signed state of your tree at its end."""

    month = serializers.CharField()
    checkpoint = serializers.CharField(
        help_text="The state at the end of the month as a signed note (c2sp.org/tlog-checkpoint), the same each time."
    )
    tree = TreeStateSerializer(help_text="What the checkpoint says.")
    before = FormerTreeSerializer()
    totals = AccountTotalSerializer(many=True)
    records = RecordSerializer(
        many=True,
        help_text="The entries of the month, oldest first. A leaf is the canonical JSON of one (names in order, no "
        "spaces, ASCII), hashed as in RFC 9162. The account of a posting says who can check it: `partner_settled` was "
        "paid on chain, for anyone to see; only we attest what is owed and paid later, `partner_payable` and "
        "`partner_paid`.",
    )
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")


class InclusionSerializer(serializers.Serializer[Any]):
    """That an entry is in the tree (RFC 9162, section 2.1.3)."""

    record = RecordSerializer()
    index = serializers.IntegerField(help_text="The number of the entry.")
    hashes = serializers.ListField(child=serializers.CharField())


class ConsistencySerializer(serializers.Serializer[Any]):
    """That the tree continues an earlier one (RFC 9162, section 2.1.4)."""

    size = serializers.IntegerField(help_text="Of the earlier tree.")
    root = serializers.CharField(help_text="Of the earlier tree; 32 bytes as hex.")  # type: ignore[assignment]  # as above
    hashes = serializers.ListField(child=serializers.CharField(), help_text="None if the earlier tree is empty.")


@extend_schema_serializer(examples=[example(EXAMPLES / "statement_proof.json", "An entry is in the tree")])
class ProofSerializer(serializers.Serializer[Any]):
    """A proof against the checkpoint of a month."""

    month = serializers.CharField()
    checkpoint = serializers.CharField(help_text="As in the statement.")
    tree = TreeStateSerializer(help_text="What the checkpoint says.")
    inclusion = InclusionSerializer(allow_null=True, help_text="Null unless `entry` was sent.")
    consistency = ConsistencySerializer(allow_null=True, help_text="Null unless `from` was sent.")
