"""Measures what the fee signer has on each chain for the gas of cancellations."""

import structlog

from sweepapi import networks
from sweepapi.evm.encoding import responses
from sweepapi.monitoring import metrics
from sweepapi.rpc import Call
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps import processes

log = structlog.get_logger(__name__)


def measure() -> None:
    """Read the balances; a chain that does not answer keeps its last one."""
    registry = networks.current()
    call = Call("eth_getBalance", (registry.fee_signer.address, "latest"), responses.quantity)
    for chain in registry.enabled:
        try:
            (balance,) = registry.pool(chain.network).batch([call])
        except ChainUnavailableError:
            log.warning("signer_balance_unknown", network=chain.network)
        else:
            metrics.SIGNER_BALANCE.labels(chain.network).set(balance)
            processes.notes[processes.SIGNER_WEI][chain.network] = balance
