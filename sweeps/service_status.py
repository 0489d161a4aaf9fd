"""The public status of the service: what it offers, within which limits, and what works at the moment."""

from typing import Any

from django.conf import settings

from sweepapi import chains
from sweepapi.evm.chains import Chain
from sweepapi.evm.v5 import BPS_DENOMINATOR, HARD_CAP_BPS
from sweeps.availability import available_chains
from sweeps.modes import V5_PARTNER_FEES
from sweeps.serializers.requests import MAX_SLIPPAGE_BPS, MIN_SLIPPAGE_BPS


def service_status() -> dict[str, Any]:
    """Return the data of ``ServiceStatusSerializer``; no URL of a provider and no secret is in it."""
    available = available_chains()
    return {
        "version": "v2",
        "available": settings.EVM_BUILD_MODE == V5_PARTNER_FEES and any(available.values()),
        "evmBuildMode": settings.EVM_BUILD_MODE,
        "chains": [_chain(chain, is_available=available.get(chain.name, False)) for chain in chains.enabled()],
        "fees": {
            "totalFeeBps": settings.TOTAL_FEE_BPS,
            "bpsDenominator": BPS_DENOMINATOR,
            "hardCapBps": HARD_CAP_BPS,
        },
        "limits": {
            "maxTokens": settings.MAX_TOKENS,
            "minSlippageBps": MIN_SLIPPAGE_BPS,
            "maxSlippageBps": MAX_SLIPPAGE_BPS,
            "authorizationTtlSeconds": settings.AUTHORIZATION_TTL_SECONDS,
        },
        "indexer": {
            "firstCheckSeconds": settings.FIRST_CHECK_SECONDS,
            "backoffFactor": settings.CHECK_BACKOFF_FACTOR,
            "maxDelaySeconds": settings.MAX_CHECK_DELAY_SECONDS,
            "fallbackProviders": True,
        },
    }


def _chain(chain: Chain, *, is_available: bool) -> dict[str, Any]:
    return {
        "name": chain.name,
        "chainId": chain.chain_id,
        "available": is_available,
        "nativeToken": chain.native_symbol,
        "wrappedNativeToken": chain.wrapped_native,
        "blockExplorerUrl": chain.block_explorer_url,
        "contracts": {"v5": chain.v5_contract, "v4": chain.v4_contract, "permit2": chain.permit2},
        "routers": chain.routers,
        "finality": {
            "safe": chain.finality.safe,
            "final": chain.finality.final,
            "recheckSeconds": chain.finality.recheck_seconds,
        },
    }
