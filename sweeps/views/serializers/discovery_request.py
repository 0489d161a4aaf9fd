"""The request body of discover on EVM chains, whose candidates may be a wallet's answer to ``wallet_getAssets``."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from sweepapi.api.input.budgets import Room
from sweepapi.api.input.chains import EvmChainField
from sweepapi.api.input.fields import EvmAddressField, StrictBooleanField
from sweepapi.api.input.lists import validated_items
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.wallet.holdings import MAX_CANDIDATES
from sweeps.protocol.request import DiscoverRequest
from sweeps.views.serializers.requests import (
    EvmWalletField,
    ExecutionRequest,
    NonZeroAddressField,
    approvals_field,
    wallet_says,
)

_FIELD = EvmAddressField()
_CHAIN_ID = re.compile(r"0x[1-9a-fA-F][0-9a-fA-F]{0,15}")
_ADDRESS = {"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"}
_ASSET = {
    "type": "object",
    "anyOf": [
        {"properties": {"type": {"const": "erc20"}, "address": _ADDRESS}, "required": ["type", "address"]},
        {"not": {"properties": {"type": {"const": "erc20"}}, "required": ["type"]}},
    ],
    "additionalProperties": True,
}
_DISCOVER = {
    "chain": "base",
    "wallet": "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF",
    "outputMint": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "candidates": ["0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb"],
}
_ASSETS = {
    "0x2105": [
        {
            "address": "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb",
            "balance": "0x1bc16d674ec80000",
            "type": "erc20",
            "metadata": {"name": "Dai Stablecoin", "symbol": "DAI", "decimals": 18},
        }
    ]
}


@extend_schema_field(
    {
        "oneOf": [
            {"type": "array", "items": _ADDRESS, "maxItems": MAX_CANDIDATES},
            {
                "type": "object",
                "additionalProperties": {"type": "array", "items": _ASSET},
                "propertyNames": {"pattern": f"^{_CHAIN_ID.pattern}$"},
                "description": "The answer of `wallet_getAssets` (ERC-7811), by chain id.",
            },
        ]
    }
)
class CandidatesField(serializers.Field[Any, Any, Any, Any]):
    """Tokens as a list of addresses, or as a wallet answers ``wallet_getAssets`` (ERC-7811), by chain id.

    In Python the addresses by chain id; those of a list by None. Only the addresses of a wallet's answer are used.
    """

    # An asset has an address, a balance, a type, and metadata of three members; some wallets add one more.
    room = Room(names=8 * MAX_CANDIDATES, items=MAX_CANDIDATES)
    default_error_messages = {
        "invalid_type": "This must be a list of addresses, or assets by chain id.",
        "invalid_format": "A chain id is 0x followed by hex digits.",
    }

    def to_internal_value(self, data: object) -> dict[int | None, list[str]]:
        """Return the addresses, each once."""
        if isinstance(data, list):
            return {None: _unique(data)}
        if not isinstance(data, Mapping):
            self.fail("invalid_type")
        if not all(_CHAIN_ID.fullmatch(chain_id) for chain_id in data):
            self.fail("invalid_format")
        return {int(chain_id, 16): _unique(list(_tokens(assets))) for chain_id, assets in data.items()}


def _tokens(assets: object) -> Iterator[object]:
    """Yield the addresses of the ERC-20 tokens among a chain's assets."""
    if not isinstance(assets, list):
        raise ValidationError("This must be a list.", code="not_a_list")
    for asset in assets:
        if not isinstance(asset, Mapping):
            raise ValidationError("This must be an object.", code="invalid_type")
        if asset.get("type") == "erc20":
            yield asset.get("address")


def _canonical(address: object) -> str:
    if isinstance(address, str):
        return _FIELD.to_internal_value(address)  # what DRF does around it takes as long as the checksum
    canonical: str = _FIELD.run_validation(address)
    return canonical


def _unique(addresses: list[object]) -> list[str]:
    """Return the addresses of a list in canonical form, without the placeholder of the native coin."""
    distinct = {address.lower() for address in addresses if isinstance(address, str)} - {NATIVE_COIN.lower()}
    if len(distinct) > MAX_CANDIDATES:
        raise ValidationError(f"This has more than {MAX_CANDIDATES} tokens.", code="max_length")
    found = dict.fromkeys(validated_items(addresses, _canonical))
    found.pop(NATIVE_COIN, None)
    return list(found)


@extend_schema_serializer(
    examples=[
        OpenApiExample("A wallet, and a token that it may hold", value=_DISCOVER),
        OpenApiExample("What the wallet said about itself (ERC-7811)", value={**_DISCOVER, "candidates": _ASSETS}),
    ]
)
class EvmDiscoverRequestSerializer(StrictSerializer):
    """The wallet to read."""

    chain = EvmChainField(min_length=1, help_text="Name of a chain, as in GET /v2/status.")
    wallet = EvmWalletField(help_text="The user's address.")
    outputMint = NonZeroAddressField(help_text=f"The token to sell for, or {NATIVE_COIN} for the native coin.")
    candidates = CandidatesField(
        required=False,
        help_text=f"Tokens that the wallet may hold, at most {MAX_CANDIDATES}: addresses, or the answer of "
        "`wallet_getAssets`, from which only the addresses are taken. The service adds the tokens that it lists, and "
        "those that the wallet received in the newest blocks.",
    )
    includeHidden = StrictBooleanField(default=False, help_text="Whether to show `suspect` tokens.")
    approvals = approvals_field()
    execution = ExecutionRequest(
        required=False,
        help_text="How the user's wallet can execute the sweep: what it costs decides which tokens are worth it.",
    )

    def to_request(self) -> DiscoverRequest:
        """Return the validated body as the domain takes it."""
        body = self.validated_data
        candidates = body.get("candidates", {})
        chain_id = int(body["chain"].rpartition(":")[2])
        return DiscoverRequest(
            network=body["chain"],
            wallet=body["wallet"],
            output_asset=body["outputMint"],
            candidates=candidates.get(None, candidates.get(chain_id, [])),
            includes_hidden=body["includeHidden"],
            unlimited_approvals=body.get("approvals") == "unlimited",
            wallet_says=wallet_says(body),
        )
