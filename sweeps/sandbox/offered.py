"""What the sandbox offers: its chains, with the tokens and amounts that force outcomes there."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from sweepapi.networks import Networks
from sweeps.sandbox.outcomes import AMOUNTS, DECIMALS, SCRIPT, TOKENS


@dataclass(frozen=True)
class SandboxToken:
    """A documented token of one chain."""

    name: str
    mint: str
    symbol: str
    decimals: int
    meaning: str


@dataclass(frozen=True)
class OfferedAmount:
    """The last digits of an amount, and what they force."""

    name: str
    ends_with: str
    meaning: str


@dataclass(frozen=True)
class OfferedChain:
    """A sandbox chain whose node the service may control."""

    chain: str
    chain_id: int
    rpc_path: str
    tokens: Sequence[SandboxToken]
    amounts: Sequence[OfferedAmount]


def offered_chains(registry: Networks) -> list[OfferedChain]:
    """Return the chains on which partners can force outcomes."""
    offered = (chain for chain in registry.enabled if chain.sandbox and chain.name in settings.SANDBOX_RPC_URLS)
    return [
        OfferedChain(
            chain.name,
            chain.chain_id,
            f"/v2/sandbox/rpc/{chain.name}",
            [
                SandboxToken(name, chain.sandbox_tokens[name], token.symbol, DECIMALS, token.meaning)
                for name, token in TOKENS.items()
                if name in chain.sandbox_tokens
            ],
            [OfferedAmount(name.value, str(amount.remainder), amount.meaning) for name, amount in AMOUNTS.items()]
            if SCRIPT in chain.sandbox_tokens
            else [],
        )
        for chain in offered
    ]
