"""Whether sweeps would work on each cluster right now.

A cluster is available when a provider with its genesis hash shows a recent clock, the fee wallet has an account for at
least one output token, and the swap API answered one of the last requests. The output tokens without an account are
logged whenever they change.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import structlog
from solders.pubkey import Pubkey

from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.cluster import reads
from sweepapi.solana.cluster.clusters import Cluster
from sweepapi.solana.encoding.accounts import ClusterAccount, token_account
from sweepapi.solana.encoding.addresses import TOKEN_PROGRAMS, associated_account, public_key
from sweeps.protocol.measured import Measured
from sweeps.protocol.rail import Rail

log = structlog.get_logger(__name__)

# The cluster's clock is the median of its validators', and drifts by less.
MAX_CLOCK_AGE_SECONDS = 120

_missing: dict[str, list[str]] = {}  # symbols of output tokens without a fee account by cluster, as last logged


@dataclass(frozen=True)
class ClusterStatus:
    """A cluster, the mode in which sweeps are built there, and whether they can be built now."""

    cluster: Cluster
    build_mode: str
    is_available: bool


def cluster_statuses(registry: Networks, rails: Mapping[str, Rail]) -> Sequence[ClusterStatus]:
    """Return the status of these networks."""
    available = measured.value(registry)
    clusters = [(registry.cluster(network), rail) for network, rail in rails.items()]
    return [ClusterStatus(cluster, rail.mode, cluster.name in available) for cluster, rail in clusters]


def _measure(registry: Networks, timeout_seconds: float | None) -> frozenset[str]:
    clusters = registry.enabled_clusters
    return frozenset(cluster.name for cluster in clusters if _is_available(registry, cluster, timeout_seconds))


def _is_available(registry: Networks, cluster: Cluster, timeout_seconds: float | None) -> bool:
    wallet = public_key(registry.fee_wallet)
    of_tokens = {token.symbol: list(_fee_accounts(wallet, public_key(token.mint))) for token in cluster.output_tokens}
    keys = [key for accounts in of_tokens.values() for key in accounts]
    pool = registry.pool(cluster.network)
    try:
        _, (clock, *answers) = pool.ask([reads.CLOCK, *reads.multiple_accounts(keys)], timeout_seconds=timeout_seconds)
    except ChainUnavailableError:
        return False
    found = reads.by_key(keys, answers)
    missing = [symbol for symbol, accounts in of_tokens.items() if not any(_is_account(found[key]) for key in accounts)]
    _log_change(cluster, missing)
    if not registry.swap_api.is_answering:
        return False
    is_recent = abs(time.time() - clock.unix_timestamp) <= MAX_CLOCK_AGE_SECONDS
    return is_recent and len(missing) < len(of_tokens)


def _fee_accounts(wallet: Pubkey, mint: Pubkey) -> Iterable[Pubkey]:
    """Return the account of a mint under each token program, only one of which can exist."""
    return (associated_account(wallet, mint, program) for program in TOKEN_PROGRAMS)


def _is_account(account: ClusterAccount | None) -> bool:
    return account is not None and token_account(account) is not None


def _log_change(cluster: Cluster, missing: list[str]) -> None:
    """Log once which fee accounts are missing, and once that none is missing any more."""
    if _missing.get(cluster.name, []) == missing:
        return
    _missing[cluster.name] = missing
    if missing:
        log.warning("fee_accounts_missing", cluster=cluster.name, symbols=missing)
    else:
        log.info("fee_accounts_complete", cluster=cluster.name)


# The names of the clusters on which sweeps work.
measured: Measured[frozenset[str]] = Measured(_measure, frozenset())
