"""Finds out what a wallet signed instead of what it was asked to, so that a refusal can say it.

A recovered address says nothing if something else was signed: it is then that of no one. So the digests of what is
signed by mistake are tried, until one recovers the wallet.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain as chained

from eth_utils.crypto import keccak

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.eip712 import TypedData, domain_separator
from sweepapi.evm.wallet.signatures import recovered
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.rails.evm.finalize.stored_offer import Issuer, signed_permit

OTHER_SWEEPS = 10  # the wallet's newest ones that are tried
# Of public chains that wallets are often on by mistake, beside those that the service knows.
USUAL_CHAIN_IDS = (1, 10, 56, 100, 137, 8453, 42161, 43114, 59144, 534352)
_MESSAGE = b"\x19Ethereum Signed Message:\n"

Alternative = tuple[str, bytes]  # what it is, in words, and its digest


def signed_instead(signature: bytes, *, wallet: str, alternatives: Iterable[Alternative]) -> str | None:
    """Return which of these the wallet's key signed, in words; None if it is none of them."""
    return next((words for words, digest in alternatives if recovered(digest, signature) == wallet), None)


def alternatives(
    asked: TypedData, *, others: Sequence[TypedData], issuer: Issuer, registry: Networks, sweep: Sweep
) -> Iterator[Alternative]:
    """Yield what may have been signed instead of ``asked``; ``others`` is what else is signed in the execution."""
    chain = registry.chain(sweep.network)
    yield from _other_ways(asked)
    for i, other in enumerate(others):
        if other is not asked:
            yield f"typedData[{i}]: the signatures are in another order", bytes.fromhex(other.digest[2:])
    yield from _on_other_chains(asked, chain, registry)
    yield from _other_sweeps(issuer, chain, sweep)


def _other_ways(asked: TypedData) -> Iterator[Alternative]:
    """Yield the typed data as wallets sign messages: its digest, as bytes and as text."""
    digest = bytes.fromhex(asked.digest[2:])
    for message in (digest, asked.digest.encode(), asked.digest[2:].encode()):
        framed = _MESSAGE + str(len(message)).encode() + message
        yield "the digest as a message (personal_sign), not typed data (eth_signTypedData_v4)", keccak(framed)


def _on_other_chains(asked: TypedData, chain: Chain, registry: Networks) -> Iterator[Alternative]:
    struct_hash = asked.preimage[-32:]
    known = chained((one.chain_id for one in registry.chains.values()), USUAL_CHAIN_IDS)
    for chain_id in dict.fromkeys(known):
        if chain_id != chain.chain_id:
            separator = domain_separator(**{**asked.domain, "chainId": chain_id})
            yield f"the same for the chain {chain_id}", keccak(b"\x19\x01" + separator + struct_hash)


def _other_sweeps(issuer: Issuer, chain: Chain, sweep: Sweep) -> Iterator[Alternative]:
    same = Sweep.objects.filter(partner_id=sweep.partner_id, rail=sweep.rail, network=sweep.network)
    newest = same.filter(wallet=sweep.wallet, permit__isnull=False).exclude(id=sweep.id).order_by("-created_at", "-id")
    known = newest.select_related("permit", "partner").prefetch_related("tokens", "executions")
    for other in known[:OTHER_SWEEPS]:
        yield f"the sweep {other.id}", bytes.fromhex(signed_permit(issuer, chain, other).digest[2:])
