"""The chains of this deployment and, once per process, the connections to their providers.

A chain is *known* when the chains file names it, and *enabled* when the environment gives it providers.
"""

from functools import cache

from django.conf import settings

from sweepapi.evm.chains import Chain, load_chains
from sweepapi.evm.deployment.roles import Roles, load_roles
from sweepapi.evm.deployment.specification import Specification
from sweepapi.evm.rpc import ProviderPool
from sweepapi.evm.signer import FeeSigner


@cache
def known() -> dict[str, Chain]:
    """Return every chain of the chains file by name."""
    return load_chains(settings.CHAINS_FILE)


@cache
def enabled() -> tuple[Chain, ...]:
    """Return the chains that have providers, in the file's order."""
    return tuple(chain for chain in known().values() if settings.RPC_URLS.get(chain.name))


def find(name: str) -> Chain | None:
    """Return the enabled chain of this name, or None."""
    return next((chain for chain in enabled() if chain.name == name), None)


@cache
def by_id(chain_id: int) -> Chain:
    """Return a known chain; raise ``KeyError`` if the file lost it, which must never happen to one that was used."""
    return {chain.chain_id: chain for chain in known().values()}[chain_id]


def name_of(chain_id: int) -> str:
    """Return the chain's name, or its CAIP-2 identifier if the file no longer names it."""
    names = {chain.chain_id: name for name, chain in known().items()}
    return names.get(chain_id, f"eip155:{chain_id}")


@cache
def pool(chain_id: int) -> ProviderPool:
    """Return this process's connections to a chain; a chain without providers gets a pool that never answers."""
    return ProviderPool.of_urls(
        urls=settings.RPC_URLS.get(by_id(chain_id).name, []),
        chain_id=chain_id,
        timeout_seconds=settings.RPC_TIMEOUT_SECONDS,
        max_head_age_seconds=by_id(chain_id).finality.max_head_age_seconds,
    )


@cache
def fee_signer() -> FeeSigner:
    """Return the key that signs fee authorizations."""
    return FeeSigner(settings.FEE_SIGNER_KEY)


@cache
def roles() -> Roles:
    """Return the roles that the contracts' functions need on every chain."""
    return load_roles(settings.BASE_DIR / "contracts" / "roles.json")


def specification(chain: Chain) -> Specification:
    """Return what must stand on a chain; raises ``SpecificationError`` if the chains file does not say all of it."""
    return Specification.of(chain=chain, roles=roles(), fee_signer=fee_signer().address)
