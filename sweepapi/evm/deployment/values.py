"""Checks of the values in the contracts, and in the routers and quoters of the chains file."""

from collections.abc import Iterator
from typing import Any

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.contracts.batch import HARD_CAP_BPS, PAUSED
from sweepapi.evm.contracts.permit2 import DOMAIN_SEPARATOR
from sweepapi.evm.contracts.v5 import CONTRACT_NAME, FEE_SIGNER, Authorization
from sweepapi.evm.deployment.allow_lists import allow_lists
from sweepapi.evm.deployment.differences import (
    NO_ANSWER,
    Check,
    Compare,
    DeploymentDifference,
    display,
    equals,
    only_affecting,
)
from sweepapi.evm.deployment.specification import BATCHES, V4, V5, Addresses, Specification
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.evm.encoding.eip712 import domain_separator
from sweepapi.evm.pools.finder import factory_reads

AUTHORITY = Function("authority()", "(address)")
PERMIT2 = Function("PERMIT2()", "(address)")
WRAPPED_NATIVE = Function("WRAPPED_NATIVE()", "(address)")
MAX_TOTAL_FEE_BPS = Function("MAX_TOTAL_FEE_BPS()", "(uint16)")
PREVIOUS_FEE_SIGNER = Function("previousFeeSigner()", "(address,uint64)")
EIP712_DOMAIN = Function("eip712Domain()", "(bytes1,string,string,uint256,address,bytes32,uint256[])")
HASH_AUTHORIZATION = Function(
    "hashAuthorization((address,bytes32,address,address,address,uint16,uint16,uint256,uint256,bytes32))", "(bytes32)"
)
FEE_BPS = Function("feeBps()", "(uint16)")
FEE_RECIPIENT = Function("feeRecipient()", "(address)")
QUOTERS_FACTORY = Function("factory()", "(address)")

# ERC-5267: which fields the domain has, here name, version, chain id and contract.
_DOMAIN_FIELDS = b"\x0f"
NO = False
_NO_SALT, _NO_EXTENSIONS = bytes(32), ()


def values(specification: Specification, at: Addresses) -> Iterator[Check]:
    """Yield all checks except those of the permissions."""
    chain = specification.chain
    yield from _factories(chain)
    for name in BATCHES:
        yield from only_affecting(name, _identity(chain, at, name))
    yield from only_affecting(V5, _signing(chain, at))
    permit2_domain = domain_separator(name="Permit2", chainId=chain.chain_id, verifyingContract=chain.permit2)
    yield equals("Permit2 domain separator", Read(chain.permit2, DOMAIN_SEPARATOR), permit2_domain)
    yield from only_affecting(V5, _fee_signers(specification, at))
    yield from only_affecting(V4, _fee(specification, at))
    for name in BATCHES:
        yield from only_affecting(name, [equals(f"{name} paused", Read(at.of(name), PAUSED), NO)])
    for name in BATCHES:
        yield from only_affecting(name, allow_lists(specification, at, name))


def _factories(chain: Chain) -> Iterator[Check]:
    """Yield the checks that routers and quoters use the configured factory, so that a swap uses the quoted pools."""
    for router in chain.routers:
        for what, read in factory_reads(router):
            yield equals(what, read, router.factory)
    for venue in chain.venues:
        yield equals(f"factory of the quoter of venue {venue.name}", Read(venue.quoter, QUOTERS_FACTORY), venue.factory)


def _identity(chain: Chain, at: Addresses, name: str) -> Iterator[Check]:
    contract = at.of(name)
    yield equals(f"{name} authority", Read(contract, AUTHORITY), at.manager)
    yield equals(f"{name} PERMIT2", Read(contract, PERMIT2), chain.permit2)
    yield equals(f"{name} WRAPPED_NATIVE", Read(contract, WRAPPED_NATIVE), chain.wrapped_native)
    yield equals(f"{name} fee cap in bps", Read(contract, MAX_TOTAL_FEE_BPS), HARD_CAP_BPS)


def _signing(chain: Chain, at: Addresses) -> Iterator[Check]:
    domain = (_DOMAIN_FIELDS, CONTRACT_NAME, "5", chain.chain_id, at.v5, _NO_SALT, _NO_EXTENSIONS)
    yield equals(f"{V5} EIP-712 domain", Read(at.v5, EIP712_DOMAIN), *domain)
    yield _signed_digest(chain, at)


def _signed_digest(chain: Chain, at: Addresses) -> Check:
    """Return the check of an authorization's digest, which covers the domain separator that the contract uses."""
    zero, account = f"0x{bytes(32).hex()}", ZERO_ADDRESS
    sample = Authorization(account, zero, account, account, account, 0, 0, 0, 0, zero)
    digest = sample.typed_data(chain_id=chain.chain_id, contract=at.v5).digest
    encoded = tuple(bytes(32) if value == zero else value for value in sample.message().values())
    read = Read(at.v5, HASH_AUTHORIZATION, (encoded,))
    return equals(f"{V5} digest of an authorization", read, bytes.fromhex(digest[2:]))


def _fee_signers(specification: Specification, at: Addresses) -> Iterator[Check]:
    yield equals(f"{V5} fee signer", Read(at.v5, FEE_SIGNER), specification.fee_signer)
    yield Check(Read(at.v5, PREVIOUS_FEE_SIGNER), _previous_signer(specification.chain.previous_fee_signer))


def _fee(specification: Specification, at: Addresses) -> Iterator[Check]:
    yield equals(f"{V4} fee in bps", Read(at.v4, FEE_BPS), specification.v4_fee_bps)
    yield equals(f"{V4} fee recipient", Read(at.v4, FEE_RECIPIENT), specification.protocol_recipient)


def _previous_signer(expected: str | None) -> Compare:
    """Accept an expired previous signer, or the configured one; any other can still sign, so it is a difference."""

    def compare(answer: Any, now: int) -> Iterator[DeploymentDifference]:  # noqa: ANN401 - as the ABI decodes it
        signer, good_until = answer or (None, now + 1)
        known = signer == ZERO_ADDRESS or (expected is not None and signer == expected.lower())
        if good_until > now and not known:
            on_chain = NO_ANSWER if signer is None else f"{display(signer)} until {good_until}"
            yield DeploymentDifference(f"{V5} previous fee signer", expected or "none", on_chain)

    return compare
