"""Opens a market of many equal tokens, each with one pool, so that a test can fill a sweep with legs of one kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import isqrt

from dev.chain.rpc import Rpc
from dev.chain.sender import Sender
from tests.local_chain import LocalChain, Token

CREATE_POOL = "createAndInitializePoolIfNecessary(address,address,uint24,uint160)"
MINT = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
FULL_RANGE = 887_220  # of a fee of 3000
FEE = 3000
OWNER = "0x" + "0d" * 20
SIDE = 10**24
NEVER = 2**64


def open_market(chain: LocalChain, count: int, *, kind: str) -> list[Token]:
    """Deploy tokens, each with a pool of this kind to the wrapped coin at par; two users hold a thousand of each."""
    with _large_blocks(chain):
        listed = [Token(f"T{i}", token, 18) for i, token in enumerate(_deploy(chain, count, kind))]
    chain.mine(seconds=60)  # V2 pools write their accumulators once some time has passed
    return listed


@contextmanager
def _large_blocks(chain: LocalChain) -> Iterator[None]:
    usual_limit = chain.rpc("eth_getBlockByNumber", "latest", False)["gasLimit"]  # noqa: FBT003 - of the RPC method
    chain.rpc("evm_setBlockGasLimit", hex(10**12))
    with chain.mining_paused():
        yield
    chain.rpc("evm_setBlockGasLimit", usual_limit)


def _deploy(chain: LocalChain, count: int, kind: str) -> list[str]:
    chain.rpc("anvil_impersonateAccount", OWNER)
    chain.give_coins(OWNER, 10**30)
    sender = Sender(Rpc(chain.world["rpcUrl"]), OWNER)
    weth, positions = chain.contracts["weth"], chain.contracts["positionManager"]
    sender.call(weth, "deposit()", value=count * SIDE)
    sender.call(weth, "approve(address,uint256)", positions, count * SIDE)
    tokens = [sender.create("MintableToken", f"Token {i}", f"T{i}", 18) for i in range(count)]
    for token in tokens:
        sender.call(token, "mint(address,uint256)", OWNER, SIDE)
        for user in chain.users[:2]:
            sender.call(token, "mint(address,uint256)", user.address, 1_000 * 10**18)
        (_open_v3 if kind == "uniswap_v3" else _open_v2)(sender, chain, token)
    sender.flush()
    return tokens


def _open_v3(sender: Sender, chain: LocalChain, token: str) -> None:
    weth, positions = chain.contracts["weth"], chain.contracts["positionManager"]
    low, high = sorted((token, weth), key=str.lower)
    sender.call(token, "approve(address,uint256)", positions, SIDE)
    sender.call(positions, CREATE_POOL, low, high, FEE, isqrt(1 << 192))
    amounts = (SIDE, SIDE, 0, 0)
    sender.call(positions, MINT, (low, high, FEE, -FULL_RANGE, FULL_RANGE, *amounts, OWNER, NEVER))


def _open_v2(sender: Sender, chain: LocalChain, token: str) -> None:
    factory = chain.contracts["uniswapV2Factory"]
    sender.call(factory, "createPair(address,address)", token, chain.contracts["weth"])
    sender.flush()
    pair = sender.read_address(factory, "getPair(address,address)", token, chain.contracts["weth"])
    for side in (token, chain.contracts["weth"]):
        sender.call(side, "transfer(address,uint256)", pair, SIDE)
    sender.call(pair, "mint(address)", OWNER)
