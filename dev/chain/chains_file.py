"""Renders the chains file of the local chain, as ``config/chains.toml`` is for public chains."""

from collections.abc import Mapping

from dev.chain.artifacts import artifact
from dev.engines.anvil import CHAIN_ID
from dev.keys import Keys, address_of
from sweepapi.evm.encoding.addresses import keccak_hex

CHAIN = "local"
V4_FEE_BPS = 75  # the default of TOTAL_FEE_BPS
LISTED_TOKENS = ("USDC", "USDT", "DAI", "WBTC", "LINK", "UNI")


def chain_facts(keys: Keys, at: Mapping[str, str], sandbox_tokens: Mapping[str, str]) -> str:
    """Return the file without the batch contracts; `at` has addresses by contract and token."""
    owner, guardian, ops = (address_of(key) for key in (keys.owner, keys.guardian, keys.ops))
    tokens = "\n".join(f'{symbol} = "{at[symbol]}"' for symbol in LISTED_TOKENS)
    forcing = "\n".join(f'{name} = "{token}"' for name, token in sandbox_tokens.items())
    return f"""# The local chain, written at every start.
[chains.{CHAIN}]
sandbox = true
chain_id = {CHAIN_ID}
native_symbol = "ETH"
wrapped_native = "{at["weth"]}"
reference_token = "{at["USDC"]}"
fee_model = "plain"
permit2 = "{at["permit2"]}"
multicall3 = "{at["multicall3"]}"
block_explorer_url = ""
protocol_recipient = "{address_of(keys.protocol_recipient)}"
v4_fee_bps = {V4_FEE_BPS}

[chains.{CHAIN}.roles]
owner = ["{owner}"]
configurator = ["{owner}"]
guardian = ["{guardian}"]
ops = ["{ops}"]

[chains.{CHAIN}.tokens]
WETH = "{at["weth"]}"
{tokens}

[chains.{CHAIN}.sandbox_tokens]
{forcing}

[chains.{CHAIN}.finality]
safe = "safe"
final = "finalized"
recheck_seconds = 3

[[chains.{CHAIN}.venues]]
id = 1
name = "uniswap_v3"
kind = "uniswap_v3"
factory = "{at["uniswapV3Factory"]}"
init_code_hash = "{keccak_hex(artifact("UniswapV3Pool").creation_code)}"
quoter = "{at["quoterV2"]}"
fee_tiers = [100, 500, 3000, 10000]

[[chains.{CHAIN}.venues]]
id = 2
name = "uniswap_v2"
kind = "uniswap_v2"
factory = "{at["uniswapV2Factory"]}"
init_code_hash = "{keccak_hex(artifact("UniswapV2Pair").creation_code)}"
quoter = "{at["uniswapV2Router"]}"

[[chains.{CHAIN}.routers]]
name = "uniswap_v3"
kind = "uniswap_v3"
address = "{at["swapRouter02"]}"
factory = "{at["uniswapV3Factory"]}"
quoter = "{at["quoterV2"]}"
fee_tiers = [100, 500, 3000, 10000]

[[chains.{CHAIN}.routers]]
name = "uniswap_v2"
kind = "uniswap_v2"
address = "{at["swapRouter02"]}"
factory = "{at["uniswapV2Factory"]}"
quoter = "{at["uniswapV2Router"]}"
"""


def contract_facts(at: Mapping[str, str], deployed_at_block: int) -> str:
    """Return the table of the batch contracts, which are deployed after the rest."""
    return f"""
[chains.{CHAIN}.contracts]
access_manager = "{at["accessManager"]}"
v5 = "{at["v5"]}"
v4 = "{at["v4"]}"
deployed_at_block = {deployed_at_block}
"""
