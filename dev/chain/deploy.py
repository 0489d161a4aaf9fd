"""Deploys everything to an empty local chain, up to users who can sweep.

It takes a tenth of a second, so every start deploys again and no saved state can be out of date.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dev.chain import market
from dev.chain.artifacts import artifact, multicall3_runtime
from dev.chain.batch_contracts import deploy_batch_contracts
from dev.chain.catalog import TOKENS
from dev.chain.chains_file import chain_facts
from dev.chain.rpc import Rpc
from dev.chain.sandbox_tokens import deploy_sandbox_tokens
from dev.chain.sender import Sender
from dev.engines.anvil import FINAL_DEPTH_BLOCKS
from dev.keys import Keys, address_of
from dev.processes.errors import NodeError
from sweepapi.evm.deployment.creation import CREATOR  # anvil predeploys it

PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11"
PERMIT2_SALT = bytes.fromhex("0000000000000000000000000000000000000000d3af2663da51c10215000000")
ZERO_ADDRESS = "0x" + "00" * 20
ON, OFF, NO_TRANSACTIONS = True, False, False

_COIN = 10**18
_DEPLOYMENT_BLOCK_GAS_LIMIT = 10**12
_DEPLOYER_COINS = 10**9
_USER_COINS = 1_000
_USER_TOKENS = 10_000  # whole units of each


@dataclass(frozen=True)
class Deployment:
    """Addresses: contracts by name, ERC-20 tokens by symbol."""

    contracts: dict[str, str]
    tokens: dict[str, str]


def deploy(rpc: Rpc, keys: Keys, chains_file: Path) -> Deployment:
    """Deploy everything, fund the users, and write the chains file."""
    with deploying(rpc, address_of(keys.deployer)) as sender:
        rpc.call("anvil_setCode", MULTICALL3, "0x" + multicall3_runtime().hex())
        _deploy_permit2(sender)
        contracts = {"permit2": PERMIT2, "multicall3": MULTICALL3, **_deploy_uniswap(sender)}
        tokens = {
            token.symbol: sender.create(token.contract, token.name, token.symbol, token.decimals) for token in TOKENS
        }
        market.open_pools(sender, contracts, tokens)
        sandbox_tokens = deploy_sandbox_tokens(sender, contracts)
        rpc.call("anvil_setBalance", address_of(keys.fee_signer), hex(_COIN))  # for cancellations
        users = [address_of(key) for key in keys.users]
        wallets = {
            "delegate": sender.create("SigningBatchAccount"),
            "contractWallet": sender.create("OwnedWallet", users[0]),
        }
        _fund_users(rpc, sender, contracts["weth"], tokens, [*users, wallets["contractWallet"]])
    tokens |= {"WETH": contracts["weth"]}
    chains_file.write_text(chain_facts(keys, {**contracts, **tokens}, sandbox_tokens))
    contracts |= deploy_batch_contracts(rpc, keys, chains_file) | wallets
    rpc.call("anvil_mine", hex(FINAL_DEPTH_BLOCKS))  # finalizes the deployment
    _require_code(rpc, [*contracts.values(), *tokens.values()])
    return Deployment(contracts, tokens)


@contextmanager
def deploying(rpc: Rpc, deployer: str) -> Iterator[Sender]:
    """Let the node sign for a funded deployer, and mine on demand and in large blocks; then restore its settings."""
    usual_limit = rpc.call("eth_getBlockByNumber", "latest", NO_TRANSACTIONS)["gasLimit"]
    rpc.call("anvil_setBalance", deployer, hex(_DEPLOYER_COINS * _COIN))
    rpc.call("anvil_impersonateAccount", deployer)
    rpc.call("evm_setAutomine", OFF)
    rpc.call("evm_setBlockGasLimit", hex(_DEPLOYMENT_BLOCK_GAS_LIMIT))
    sender = Sender(rpc, deployer)
    yield sender
    sender.flush()
    rpc.call("evm_setBlockGasLimit", usual_limit)
    rpc.call("evm_setAutomine", ON)
    rpc.call("anvil_stopImpersonatingAccount", deployer)


def _deploy_permit2(sender: Sender) -> None:
    """Deploy Permit2 at its canonical address by its constructor, which caches the domain separator."""
    sender.send(CREATOR, PERMIT2_SALT + artifact("Permit2").creation_code)


def _deploy_uniswap(sender: Sender) -> dict[str, str]:
    weth = sender.create("WETH9")
    v2_factory = sender.create("UniswapV2Factory", sender.address)
    v3_factory = sender.create("UniswapV3Factory")
    positions = sender.create("NonfungiblePositionManager", v3_factory, weth, ZERO_ADDRESS)
    sender.call(v3_factory, "enableFeeAmount(uint24,int24)", 100, 1)  # as on the public chains
    return {
        "weth": weth,
        "uniswapV2Factory": v2_factory,
        "uniswapV2Router": sender.create("UniswapV2Router02", v2_factory, weth),
        "uniswapV3Factory": v3_factory,
        "positionManager": positions,
        "swapRouter02": sender.create("SwapRouter02", v2_factory, v3_factory, positions, weth),
        "quoterV2": sender.create("QuoterV2", v3_factory, weth),
    }


def _fund_users(rpc: Rpc, sender: Sender, weth: str, tokens: dict[str, str], users: list[str]) -> None:
    rpc.batch([("anvil_setBalance", [user, hex(_USER_COINS * _COIN)]) for user in users])
    sender.call(weth, "deposit()", value=len(users) * _USER_TOKENS * _COIN)
    for user in users:
        sender.call(weth, "transfer(address,uint256)", user, _USER_TOKENS * _COIN)
        for token in TOKENS:
            amount = _USER_TOKENS * 10**token.decimals
            sender.call(tokens[token.symbol], "mint(address,uint256)", user, amount)


def _require_code(rpc: Rpc, addresses: list[str]) -> None:
    codes = rpc.batch([("eth_getCode", [address, "latest"]) for address in addresses])
    for address, code in zip(addresses, codes, strict=True):
        if code == "0x":
            raise NodeError(f"nothing was deployed at {address}")
