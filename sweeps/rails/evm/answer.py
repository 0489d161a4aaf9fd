"""What a build answers: everything the user's wallet needs to sign and send, and everything the partner shows."""

from collections.abc import Iterator
from typing import Any

from sweepapi import chains
from sweepapi.evm import v5
from sweepapi.evm.addresses import NATIVE_COIN
from sweepapi.evm.chains import Chain
from sweepapi.evm.erc20 import APPROVE, UNLIMITED
from sweepapi.evm.routes.types import Route
from sweeps.build import Built
from sweeps.plan import PlannedLeg

# An upper bound until simulation measures: more than any route of this release has been seen to use.
GAS_FIXED, GAS_A_LEG = 200_000, 250_000
NOT_SIMULATED = {"status": "skipped", "gasUsed": None, "grossOutput": None, "failingToken": None, "reason": None}


def built_sweep(built: Built) -> dict[str, Any]:
    """Return the data of ``BuiltSerializer``."""
    sweep, signed = built.sweep, built.signed
    call = _call(built)
    return {
        "sweepId": sweep.id,
        "status": sweep.status,
        "chain": built.chain.name,
        "chainId": sweep.chain_id,
        "mode": sweep.mode,
        "contractVersion": sweep.contract_version,
        "contractAddress": sweep.contract,
        "feeMode": "onchain_partner_fees",
        "createdAt": sweep.created_at,
        "expiresAt": sweep.authorization.deadline,
        "tokens": [_token(leg, built) for leg in built.planned],
        "skippedTokens": [],
        "estimatedOutput": _estimated_output(built),
        "feeSummary": _fee_summary(built),
        "permit2": signed.permit.for_wallets(),
        "feeAuthorization": {
            **signed.authorization.message(),
            "signature": _hex(signed.signature),
            "signer": chains.fee_signer().address,
            "digest": signed.authorization_digest,
        },
        "transaction": {
            **{name: call[name] for name in ("chainId", "to", "value", "data")},
            "sender": sweep.wallet,
            "gas": GAS_FIXED + GAS_A_LEG * len(signed.legs),
        },
        "transactionTemplate": call,
        "issues": {
            "allowance": list(_allowance_issues(built)),
            "balance": list(_balance_issues(built)),
            "simulation": NOT_SIMULATED,
        },
    }


def _call(built: Built) -> dict[str, Any]:
    """Return the call of the contract, encoded and taken apart, with a placeholder for the Permit2 signature."""
    signed = built.signed
    arguments = v5.sweep_arguments(
        legs=signed.legs,
        order=signed.order,
        authorization=signed.authorization,
        signature=signed.signature,
        permission=signed.permission,
    )
    calldata = v5.SWEEP.encode(*arguments)
    return {
        "chainId": built.sweep.chain_id,
        "to": built.sweep.contract,
        "value": 0,
        "functionName": "sweep",
        "abi": [v5.sweep_abi()],
        "args": _json(arguments),
        "data": _hex(calldata),
        "signature": {
            "argIndex": len(arguments) - 1,
            "byteOffset": v5.signature_offset(calldata),
            "length": v5.SIGNATURE_BYTES,
        },
    }


def _estimated_output(built: Built) -> dict[str, Any]:
    return {
        "token": built.sweep.output_token,
        "symbol": built.sweep.output_symbol,
        "decimals": built.sweep.output_decimals,
        "gross": built.expected.gross_output,
        "minGross": built.minimum.gross_output,
        "user": built.expected.user_amount,
        "minUser": built.minimum.user_amount,
    }


def _fee_summary(built: Built) -> dict[str, Any]:
    return {
        "totalFeeBps": built.signed.authorization.total_fee_bps,
        "partnerShareBps": built.signed.authorization.partner_share_bps,
        "totalFee": built.expected.total_fee,
        "partnerFee": built.expected.partner_fee,
        "protocolFee": built.expected.protocol_fee,
        "userAmount": built.expected.user_amount,
    }


def _token(leg: PlannedLeg, built: Built) -> dict[str, Any]:
    token = built.facts.tokens[leg.wish.mint]
    return {
        "mint": leg.wish.mint,
        "amount": leg.wish.amount,
        "symbol": token.symbol,
        "decimals": token.decimals,
        "expectedOutput": leg.expected_output,
        "minOutput": leg.min_output,
        "route": _unwrapping(built.chain) if leg.route is None else _route(leg.route),
    }


def _unwrapping(chain: Chain) -> dict[str, Any]:
    """Return what stands where a route would: the wrapped coin is not swapped, only unwrapped."""
    return {
        "router": "wrapped_native",
        "kind": "unwrap",
        "target": chain.wrapped_native,
        "path": [chain.wrapped_native, NATIVE_COIN],
        "feeTiers": [],
        "priceImpactBps": None,
    }


def _route(route: Route) -> dict[str, Any]:
    return {
        "router": route.router.name,
        "kind": route.router.kind,
        "target": route.router.address,
        "path": route.path,
        "feeTiers": route.fee_tiers,
        "priceImpactBps": None,
    }


def _allowance_issues(built: Built) -> Iterator[dict[str, Any]]:
    for leg in built.planned:
        mint, allowance = leg.wish.mint, built.facts.tokens[leg.wish.mint].allowance
        if allowance >= leg.wish.amount:
            continue
        yield {
            "token": mint,
            "spender": built.chain.permit2,
            "actual": allowance,
            "required": leg.wish.amount,
            "resetTransaction": _approval(built, mint, 0) if built.quotes.needs_reset.get(mint) else None,
            "transaction": _approval(built, mint, UNLIMITED),
        }


def _balance_issues(built: Built) -> Iterator[dict[str, Any]]:
    for leg in built.planned:
        balance = built.facts.tokens[leg.wish.mint].balance
        if balance < leg.wish.amount:
            yield {"token": leg.wish.mint, "actual": balance, "required": leg.wish.amount}


def _approval(built: Built, token: str, amount: int) -> dict[str, Any]:
    return {"to": token, "data": _hex(APPROVE.encode(built.chain.permit2, amount)), "value": 0}


def _hex(value: bytes) -> str:
    return f"0x{value.hex()}"


def _json(value: Any) -> Any:  # noqa: ANN401 - ABI arguments of any shape
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return _hex(value) if isinstance(value, bytes) else str(value)
