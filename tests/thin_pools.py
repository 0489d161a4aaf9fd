"""Opens Uniswap V3 pools whose liquidity ends close to the current price, so that a test's swap can exhaust them."""

import math

from dev.chain.sender import calldata
from tests.local_chain import LocalChain, Token

TICK_SPACING = {100: 1, 500: 10, 3000: 60}
CREATE_POOL = "createAndInitializePoolIfNecessary(address,address,uint24,uint160)"
MINT = "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
NEVER = 2**64


def open_thin_pool(chain: LocalChain, *sides: tuple[Token, float], fee: int) -> None:
    """Open a pool of the two tokens that holds up to these whole amounts of them, which also set its price."""
    owner, positions = chain.users[-1], chain.contracts["positionManager"]
    (low, low_amount), (high, high_amount) = sorted(
        ((token, token.units(whole)) for token, whole in sides), key=lambda side: int(side[0].address, 16)
    )
    spacing = TICK_SPACING[fee]
    below = math.floor(math.log(high_amount / low_amount, 1.0001) / spacing) * spacing
    position = (low.address, high.address, fee, below - spacing, below + 2 * spacing)
    sqrt_price = math.isqrt((high_amount << 192) // low_amount)
    for to, data in (
        (low.address, calldata("approve(address,uint256)", positions, low_amount)),
        (high.address, calldata("approve(address,uint256)", positions, high_amount)),
        (positions, calldata(CREATE_POOL, low.address, high.address, fee, sqrt_price)),
        (positions, calldata(MINT, (*position, low_amount, high_amount, 0, 0, owner.address, NEVER))),
    ):
        assert chain.receipt(chain.send(owner, {"to": to, "data": f"0x{data.hex()}"}))["status"] == 1
