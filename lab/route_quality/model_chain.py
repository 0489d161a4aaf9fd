"""A chain of exact pools that answers the reads of a build, in place of a provider."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eth_abi.abi import decode, encode
from eth_utils.address import to_checksum_address

from lab.route_quality.markets import CHAIN, Market, Place
from lab.route_quality.pools import Pool, V2Pool, V3Pool
from sweepapi.evm.chain.multicall import AGGREGATE3
from sweepapi.evm.contracts.permit2 import NONCE_BITMAP
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.evm.pools import uniswap_v2, uniswap_v3
from sweepapi.evm.tokens.erc20 import ALLOWANCE, BALANCE_OF, DECIMALS, SYMBOL, UNLIMITED
from sweepapi.evm.tokens.probe import PROBE
from sweepapi.rpc import Call
from sweepapi.rpc.errors import CallFailedError

Answer = Callable[..., bytes | None]  # by the target and the arguments


class ModelChain:
    """What ``ProviderPool`` is to a build; it counts the round trips."""

    def __init__(self, market: Market) -> None:
        self._market = market
        self._by_address = {place.address: place for place in market.pools}
        self._answers: Mapping[bytes, tuple[list[str], Answer]] = {
            uniswap_v2.GET_PAIR.selector: (["address", "address"], self._pair),
            uniswap_v3.GET_POOL.selector: (["address", "address", "uint24"], self._v3_pool),
            uniswap_v2.GET_RESERVES.selector: ([], self._reserves),
            uniswap_v3.SLOT0.selector: ([], self._slot0),
            uniswap_v3.LIQUIDITY.selector: ([], self._liquidity),
            uniswap_v3.QUOTE_EXACT_INPUT_SINGLE.selector: (["(address,address,uint256,uint24,uint160)"], self._quote),
            NONCE_BITMAP.selector: (["address", "uint256"], lambda *_: encode(["uint256"], [0])),
            DECIMALS.selector: ([], lambda token: encode(["uint8"], [market.decimals.get(token, 18)])),
            SYMBOL.selector: ([], lambda _: encode(["string"], ["T"])),
            ALLOWANCE.selector: (["address", "address"], lambda *_: encode(["uint256"], [UNLIMITED])),
            BALANCE_OF.selector: (["address"], lambda *_: encode(["uint256"], [2**200])),
            PROBE.selector: (
                ["address", "uint256", "address"],
                lambda _holder, _token, amount, _peer: encode(["uint256"] * 4, [amount] * 3 + [1]),
            ),
        }
        self.trips = 0

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """Return the decoded answers to these calls."""
        self.trips += 1
        return [self._result(call) for call in calls]

    def _result(self, call: Call) -> Any:  # noqa: ANN401 - as the call decodes it
        if call.method != "eth_call":
            return call.decode(self._plain(call.method))
        data = bytes.fromhex(call.params[0]["data"][2:])
        if data[:4] != AGGREGATE3.selector:
            return CallFailedError("the model knows no other calls")
        (reads,) = decode(["(address,bool,bytes)[]"], data[4:])
        results = [self._read(target, packed) for target, _, packed in reads]
        return call.decode("0x" + encode(["(bool,bytes)[]"], [results]).hex())

    def _plain(self, method: str) -> object:
        answers: Mapping[str, object] = {
            "eth_getBlockByNumber": {"number": "0x1", "hash": "0x" + "ab" * 32, "timestamp": "0x1"},
            "eth_feeHistory": {"baseFeePerGas": ["0x0", hex(self._market.gas_price)]},
            "eth_maxPriorityFeePerGas": "0x0",
            "eth_gasPrice": hex(self._market.gas_price),
            "eth_getBalance": "0x0",
            "eth_getCode": "0x",
        }
        return answers[method]

    def _read(self, target: str, data: bytes) -> tuple[bool, bytes]:
        if data[:4] not in self._answers:
            return False, b""
        inputs, answer = self._answers[data[:4]]
        output = answer(to_checksum_address(target), *decode(inputs, data[4:]))
        return (False, b"") if output is None else (True, output)

    def _pair(self, _factory: str, token: str, other: str) -> bytes:
        return self._address(token, other, None)

    def _v3_pool(self, _factory: str, token: str, other: str, fee_tier: int) -> bytes:
        return self._address(token, other, fee_tier)

    def _address(self, token: str, other: str, fee_tier: int | None) -> bytes:
        place = self._place(token, other, fee_tier)
        return encode(["address"], [place.address if place in self._market.pools else ZERO_ADDRESS])

    def _place(self, token: str, other: str, fee_tier: int | None) -> Place:
        venue = next(one for one in CHAIN.venues if bool(one.fee_tiers) == (fee_tier is not None))
        return Place.of(venue, (to_checksum_address(token), to_checksum_address(other)), fee_tier)

    def _pool(self, address: str) -> Pool:
        return self._market.pools[self._by_address[address]]

    def _reserves(self, address: str) -> bytes | None:
        pool = self._pool(address)
        if not isinstance(pool, V2Pool):
            return None
        return encode(["uint112", "uint112", "uint32"], [pool.reserve_zero, pool.reserve_one, 0])

    def _slot0(self, address: str) -> bytes | None:
        pool = self._pool(address)
        return encode(["uint160", "int24"], [pool.sqrt_price, pool.tick]) if isinstance(pool, V3Pool) else None

    def _liquidity(self, address: str) -> bytes | None:
        pool = self._pool(address)
        return encode(["uint128"], [pool.liquidity]) if isinstance(pool, V3Pool) else None

    def _quote(self, _quoter: str, swap: tuple[str, str, int, int, int]) -> bytes | None:
        token_in, token_out, amount, fee_tier, _ = swap
        place = self._place(token_in, token_out, fee_tier)
        fill = place.swap(self._market.pools[place], to_checksum_address(token_in), amount)
        if fill is None or not isinstance(fill.pool, V3Pool):
            return None
        return encode(["uint256", "uint160", "uint32", "uint256"], [fill.output, fill.pool.sqrt_price, fill.ticks, 0])
