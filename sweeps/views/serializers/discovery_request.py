"""The request body of discover on EVM chains, whose candidates may be what a wallet answers to ``wallet_getAssets``.

Source: ERC-7811. An asset has an address, ``native`` for the coin, a balance, a type, and perhaps metadata; wallets
that follow its first drafts write the type of a token in capitals.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from partners.authentication import Requester
from sweepapi.api.input.budgets import Room
from sweepapi.api.input.chains import EvmChainField
from sweepapi.api.input.fields import EvmAddressField, StrictBooleanField, StrictCharField
from sweepapi.api.input.lists import validated_items
from sweepapi.api.input.pagination import Scope
from sweepapi.api.input.serializers import StrictSerializer
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.wallet.holdings.reading import MAX_CANDIDATES
from sweepapi.evm.wallet.holdings.sources import MAX_LOOKED_AT
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
# Of the longest list of tokens that are left, in base64, with some room for where sources go on.
MAX_CURSOR_CHARACTERS = (MAX_LOOKED_AT * 20 + 4_096) * 4 // 3
MAX_ASSETS = 500  # with their metadata: to read more takes longer than a body that may be refused is worth
_ERC20 = ("erc20", "ERC20")
_ERC20_TYPE = {"type": "string", "pattern": f"^({'|'.join(_ERC20)})$"}  # generators take case-twins of an enum for one
_ADDRESS = {"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"}
_ASSET = {
    "type": "object",
    "anyOf": [
        {"properties": {"type": _ERC20_TYPE, "address": _ADDRESS}, "required": ["type", "address"]},
        {"not": {"properties": {"type": _ERC20_TYPE}, "required": ["type"]}},
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
            {"type": "array", "items": {"oneOf": [_ADDRESS, _ASSET]}, "maxItems": MAX_CANDIDATES},
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
    """Tokens as a list of addresses and assets (ERC-7811), or as a wallet answers ``wallet_getAssets``, by chain id.

    In Python the addresses by chain id; those of a list by None. Only the addresses of assets are used.
    """

    # An asset has an address, a balance, a type, and metadata of three members; some wallets add one more.
    room = Room(names=8 * MAX_ASSETS, items=MAX_CANDIDATES)
    default_error_messages = {
        "invalid_type": "This must be a list of addresses or assets, or assets by chain id.",
        "invalid_format": "A chain id is 0x followed by hex digits.",
    }

    def to_internal_value(self, data: object) -> dict[int | None, list[str]]:
        """Return the addresses, each once."""
        if isinstance(data, list):
            return {None: _unique(list(_named(data)))}
        if not isinstance(data, Mapping):
            self.fail("invalid_type")
        if not all(_CHAIN_ID.fullmatch(chain_id) for chain_id in data):
            self.fail("invalid_format")
        return {int(chain_id, 16): _unique(list(_tokens(assets))) for chain_id, assets in data.items()}


class CursorField(StrictCharField):
    """A cursor, which may be long: its seal is compared, so no character has to be looked at before."""

    def run_validators(self, value: object) -> None:
        """Accept any text that is not too long."""


def _named(given: list[object]) -> Iterator[object]:
    """Yield what should be the addresses of tokens in a list of addresses and assets."""
    for one in given:
        if not isinstance(one, Mapping):
            yield one
        elif one.get("type") in _ERC20:
            yield one.get("address")


def _tokens(assets: object) -> Iterator[object]:
    """Yield the addresses of the ERC-20 tokens among a chain's assets."""
    if not isinstance(assets, list):
        raise ValidationError("This must be a list.", code="not_a_list")
    for asset in assets:
        if not isinstance(asset, Mapping):
            raise ValidationError("This must be an object.", code="invalid_type")
        if asset.get("type") in _ERC20:
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
        help_text=f"Tokens that the wallet may hold, at most {MAX_CANDIDATES}: addresses; or assets (ERC-7811), about "
        f"{MAX_ASSETS} of them, in a list or as `wallet_getAssets` answers, of which only the addresses are taken. The "
        "service adds what the other sources of the chain name, as `coverage` shows. With a `cursor` they are not "
        "looked at again.",
    )
    cursor = CursorField(
        required=False,
        max_length=MAX_CURSOR_CHARACTERS,
        help_text="The `nextCursor` of an answer about the same chain, wallet and output, to go on with what it did "
        "not look at.",
    )
    includeHidden = StrictBooleanField(default=False, help_text="Whether to show `suspect` tokens.")
    approvals = approvals_field()
    execution = ExecutionRequest(
        required=False,
        help_text="How the user's wallet can execute the sweep: what it costs decides which tokens are worth it.",
    )

    def scope(self, requester: Requester) -> Scope:
        """Return what the cursors of this request's pages belong to."""
        names = ("chain", "wallet", "outputMint")
        filters = {name: self.validated_data[name] for name in names}
        return Scope("wallet tokens", requester.partner_id, requester.mode, filters)

    def to_request(self, scope: Scope) -> DiscoverRequest:
        """Return the validated body as the domain takes it; raises ``InvalidRequest`` for the cursor of another one."""
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
            place=scope.unseal(body["cursor"]) if "cursor" in body else None,
        )
