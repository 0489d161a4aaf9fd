"""The JSON of the sandbox: what it offers, and the requests to change a chain."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework import serializers

from sweepapi.api.input.chains import EvmChainField
from sweepapi.api.input.fields import (
    AmountOutputField,
    EvmAddressField,
    OpenEnumField,
    StrictIntegerField,
    UtcDateTimeField,
)
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweeps.sandbox.offered import OfferedChain, SandboxToken
from sweeps.sandbox.operating import MAX_BLOCKS, MAX_SECONDS
from sweeps.sandbox.outcomes import AMOUNTS, TOKENS

_BLOCK = {"number": 120, "hash": "0x" + "5a" * 32, "timestamp": "2026-03-02T09:45:00Z"}
_HEADS = {"head": _BLOCK, "safe": _BLOCK | {"number": 116}, "final": _BLOCK | {"number": 112}}
_MINT = "0x5FbDB2315678afecb367f032d93F642f64180aa3"


@extend_schema_serializer(
    examples=[
        OpenApiExample("Nine blocks, so that what is mined is final", value={"chain": "local", "blocks": 9}),
        OpenApiExample("Past a deadline", value={"chain": "local", "blocks": 6, "seconds": 1000}),
    ]
)
class AdvanceRequestSerializer(StrictSerializer):
    """How far to move a sandbox chain."""

    chain = EvmChainField(help_text="Name of a sandbox chain.")
    blocks = StrictIntegerField(min_value=1, max_value=MAX_BLOCKS, default=1, help_text="How many blocks to mine.")
    seconds = StrictIntegerField(
        min_value=0, max_value=MAX_SECONDS, default=0, help_text="How far to move the clock before the first of them."
    )


class SandboxPlaceSerializer(StrictSerializer):
    """The chain in the path of the RPC proxy."""

    chain = EvmChainField()


class SandboxBlockSerializer(serializers.Serializer[Any]):
    """A block."""

    number = serializers.IntegerField()
    hash = serializers.CharField()
    timestamp = UtcDateTimeField(help_text="By the chain's clock, which may be ahead.")


class SandboxHeadsSerializer(serializers.Serializer[Any]):
    """Where a chain is."""

    head = SandboxBlockSerializer(help_text="The newest block.")
    safe = SandboxBlockSerializer(help_text="The newest that counts as safe.")
    final = SandboxBlockSerializer(help_text="The newest that counts as final.")


@extend_schema_serializer(examples=[OpenApiExample("Advanced", value={"chain": "local", **_HEADS})])
class AdvancedSerializer(SandboxHeadsSerializer):
    """Where the chain is now; all who use it see its clock move."""

    chain = serializers.CharField()


@extend_schema_serializer(
    examples=[
        OpenApiExample("A wallet", value={"chain": "local", "wallet": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"})
    ]
)
class FundRequestSerializer(StrictSerializer):
    """Whom to fund."""

    chain = EvmChainField(help_text="Name of a sandbox chain.")
    wallet = EvmAddressField(help_text="A wallet of yours for tests.")

    def validate_wallet(self, wallet: str) -> str:
        """Refuse the zero address, to which tokens can't be minted."""
        if wallet == ZERO_ADDRESS:
            raise serializers.ValidationError("The zero address can't be funded.", code="zero_address")
        return wallet


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Funded",
            value={
                "chain": "local",
                "wallet": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
                "coins": "1000000000000000000",
                "tokens": [_MINT],
                "tokenAmount": "1000000000000000000000",
                **_HEADS,
            },
        )
    ]
)
class FundedSerializer(SandboxHeadsSerializer):
    """What the wallet was given, in the newest block."""

    chain = serializers.CharField()
    wallet = serializers.CharField()
    coins = AmountOutputField(help_text="Native coins in wei; the wallet is filled up to one.")
    tokens = serializers.ListField(child=serializers.CharField(), help_text="The documented tokens.")
    tokenAmount = AmountOutputField(help_text="How much of each, in its smallest unit.")


class SandboxTokenSerializer(serializers.Serializer[SandboxToken]):
    """A token, and what happens to a sweep of it."""

    name = OpenEnumField(values=list(TOKENS), help_text="What it is for; new ones may be added.")
    mint = serializers.CharField(help_text="Its address.")
    symbol = serializers.CharField()
    decimals = serializers.IntegerField()
    meaning = serializers.CharField(help_text="For people.")


class SandboxAmountSerializer(serializers.Serializer[Any]):
    """The last three digits of an amount of the token `script`, and what happens to the transaction that sweeps it."""

    name = OpenEnumField(values=list(AMOUNTS), help_text="What it is for; new ones may be added.")
    endsWith = serializers.CharField(
        source="ends_with", help_text="The last digits of the amount in the smallest unit."
    )
    meaning = serializers.CharField(help_text="For people.")


class SandboxChainSerializer(serializers.Serializer[OfferedChain]):
    """What a sandbox chain offers."""

    chain = serializers.CharField()
    chainId = serializers.IntegerField(source="chain_id")
    rpcPath = serializers.CharField(source="rpc_path", help_text="Where its JSON-RPC is; send your key in x-api-key.")
    tokens = SandboxTokenSerializer(many=True)
    amounts = SandboxAmountSerializer(many=True, help_text="Empty if the chain lacks the token `script`.")


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "One chain",
            value={
                "maxBlocks": MAX_BLOCKS,
                "maxSeconds": MAX_SECONDS,
                "chains": [
                    {
                        "chain": "local",
                        "chainId": 31337,
                        "rpcPath": "/v2/sandbox/rpc/local",
                        "tokens": [
                            {
                                "name": "script",
                                "mint": _MINT,
                                "symbol": TOKENS["script"].symbol,
                                "decimals": 18,
                                "meaning": TOKENS["script"].meaning,
                            }
                        ],
                        "amounts": [
                            {"name": name.value, "endsWith": str(amount.remainder), "meaning": amount.meaning}
                            for name, amount in AMOUNTS.items()
                        ],
                    }
                ],
            },
        )
    ]
)
class SandboxSerializer(serializers.Serializer[Any]):
    """The sandbox chains that the service may control."""

    maxBlocks = serializers.IntegerField(help_text="That one advance can mine.")
    maxSeconds = serializers.IntegerField(help_text="By which one advance can move the clock.")
    chains = SandboxChainSerializer(many=True)
