"""Whether sweeps would work on each chain right now.

A chain is available when some provider returns a recent head, and everything that one round trip can read about the
contract of its build mode is as configured: code, signer, fees, roles and allow-list, and that it is not paused. The
other contract does not count, because switching modes is what helps when only one of them works. Differences of both
are logged whenever they change.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import structlog

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.errors import SpecificationError
from sweepapi.evm.deployment.comparison import compare
from sweepapi.evm.deployment.specification import BATCHES, deployed
from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.protocol.measured import Measured
from sweeps.rails.evm.rail import EvmRail

log = structlog.get_logger(__name__)

_differences: dict[str, list[str]] = {}  # by chain, as last logged


@dataclass(frozen=True)
class ChainStatus:
    """A chain, the mode in which sweeps are built there, and whether they can be built now."""

    chain: Chain
    build_mode: str
    is_available: bool


def chain_statuses(registry: Networks, rails: Mapping[str, EvmRail]) -> Sequence[ChainStatus]:
    """Return the status of these networks, each by the contract of its rail."""
    available = measured.value(registry)
    chains = [(registry.chain(network), rail) for network, rail in rails.items()]
    return [
        ChainStatus(chain, rail.mode, rail.contract_name in available.get(chain.name, ())) for chain, rail in chains
    ]


def _measure(registry: Networks, timeout_seconds: float | None) -> dict[str, frozenset[str]]:
    enabled = registry.enabled
    with ThreadPoolExecutor(max_workers=max(len(enabled), 1)) as executor:
        results = executor.map(partial(_working_contracts, registry, timeout_seconds), enabled)
        return {chain.name: result for chain, result in zip(enabled, results, strict=True)}


def _working_contracts(registry: Networks, timeout_seconds: float | None, chain: Chain) -> frozenset[str]:
    at = deployed(chain)
    if at is None:
        return frozenset()
    try:
        found = compare(
            specification=registry.specification(chain),
            at=at,
            pool=registry.pool(chain.network),
            timeout_seconds=timeout_seconds,
        )
    except ChainUnavailableError:
        return frozenset()
    except SpecificationError as error:
        _log_change(chain, [str(error)])
        return frozenset()
    _log_change(chain, [str(difference) for difference in found.differences])
    max_age = chain.finality.max_head_age_seconds
    if max_age is not None and time.time() - found.head.timestamp > max_age:
        return frozenset()
    return frozenset(name for name in BATCHES if not any(one.affects(name) for one in found.differences))


def _log_change(chain: Chain, differences: list[str]) -> None:
    """Log once what differs from the configuration, and once that it agrees again."""
    if _differences.get(chain.name, []) == differences:
        return
    _differences[chain.name] = differences
    if differences:
        log.warning("contracts_differ", chain=chain.name, differences=differences)
    else:
        log.info("contracts_agree", chain=chain.name)


# The contracts through which sweeps work, by the enabled chain's name.
measured: Measured[dict[str, frozenset[str]]] = Measured(_measure, {})
