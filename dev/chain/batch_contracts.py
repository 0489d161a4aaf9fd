"""Deploys the batch contracts to the local chain, with the code of ``manage.py deploy_contracts``.

Only the keys and the deployer's balance belong to the local world.
"""

from pathlib import Path

from eth_account import Account

from dev.chain.artifacts import CONTRACTS
from dev.chain.chains_file import CHAIN, contract_facts
from dev.chain.rpc import Rpc
from dev.keys import Keys, address_of
from dev.processes.errors import NodeError, NotInstalledError
from sweepapi.evm.chain.chains_file import load_chains
from sweepapi.evm.chain.errors import BuildError, EvmError
from sweepapi.evm.chain.providers import evm_pool
from sweepapi.evm.chain.sending import GWEI
from sweepapi.evm.deployment.creation import Artifacts
from sweepapi.evm.deployment.roles import load_roles
from sweepapi.evm.deployment.runner import Deployment
from sweepapi.evm.deployment.specification import Specification
from sweepapi.rpc.errors import RpcError

_TIMEOUT_SECONDS = 60
_MAX_FEE_GWEI = 100


def deploy_batch_contracts(rpc: Rpc, keys: Keys, chains_file: Path) -> dict[str, str]:
    """Deploy what the chains file specifies, append the addresses to it, and return them by name."""
    chain = load_chains(chains_file)[CHAIN]
    deployment = Deployment(
        specification=Specification.of(
            chain=chain, roles=load_roles(CONTRACTS / "roles.json"), fee_signer=address_of(keys.fee_signer)
        ),
        artifacts=Artifacts(CONTRACTS / "out"),
        account=Account.from_key(keys.deployer),
        pool=evm_pool(urls=[rpc.url], chain_id=chain.chain_id, timeout_seconds=_TIMEOUT_SECONDS),
        max_fee_cap=_MAX_FEE_GWEI * GWEI,
    )
    block = int(rpc.call("eth_blockNumber"), 16)
    try:
        list(deployment.run())
        at = deployment.plan().at
    except BuildError as error:
        raise NotInstalledError(str(error)) from error
    except (EvmError, RpcError) as error:
        raise NodeError(f"the batch contracts could not be deployed: {error}") from error
    contracts = {"accessManager": at.manager, "v5": at.v5, "v4": at.v4}
    with chains_file.open("a") as facts:
        facts.write(contract_facts(contracts, block))
    return contracts
