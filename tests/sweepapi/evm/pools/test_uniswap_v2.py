"""What a V2 pool is asked for is the most that it pays, which is what the contract computes."""

from dataclasses import replace

import pytest
from web3.exceptions import ContractLogicError

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import multicall
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.pools import finder, uniswap_v2
from sweepapi.evm.pools.types import PoolHop
from sweepapi.evm.pools.venues import pool_address
from tests.factories.sweeps import LOCAL
from tests.local_chain import LocalChain, Token

TRANSFER = Function("transfer(address,uint256)")
SWAP = Function("swap(uint256,uint256,address,bytes)")
MAX_RESERVE = 2**112 - 1


@pytest.fixture
def facts(chain: LocalChain) -> Chain:
    assert chain.world
    return networks.current().chain(LOCAL)


def pool_swap(facts: Chain, token_in: Token, token_out: Token) -> PoolHop:
    venue = facts.venues[1]
    pool = pool_address(venue, token_in.address, token_out.address, 0)
    return PoolHop(venue, token_in.address, token_out.address, None, pool)


def quoted(facts: Chain, hop: PoolHop, amount: int) -> int:
    call = multicall(multicall3=facts.multicall3, reads=[finder.quote_read(hop, amount)])
    ((result,),) = networks.current().pool(LOCAL).batch([call])
    quote = finder.quoted(hop, amount, result)
    assert quote is not None
    return quote.expected_output


@pytest.mark.parametrize(("sold", "bought"), [("LINK", "WETH"), ("WETH", "LINK"), ("USDC", "WETH"), ("WETH", "GUSD")])
@pytest.mark.parametrize("whole", [0.001_017, 1, 12.345_678, 999])
def test_a_pool_pays_what_was_quoted_and_not_a_unit_more(
    chain: LocalChain, facts: Chain, sold: str, bought: str, whole: float
) -> None:
    token_in, token_out, user = chain.token(sold), chain.token(bought), chain.users[0]
    hop, amount = pool_swap(facts, token_in, token_out), token_in.units(whole)
    output = quoted(facts, hop, amount)

    def swap(out: int) -> dict[str, str]:
        amounts = (0, out) if int(token_in.address, 16) < int(token_out.address, 16) else (out, 0)
        return {"from": user.address, "to": hop.pool, "data": f"0x{SWAP.encode(*amounts, user.address, b'').hex()}"}

    paid = {"to": token_in.address, "data": f"0x{TRANSFER.encode(hop.pool, amount).hex()}"}
    assert chain.receipt(chain.send(user, paid))["status"] == 1
    with pytest.raises(ContractLogicError, match="UniswapV2: K"):
        chain.web3.eth.call(swap(output + 1))  # type: ignore[arg-type]
    before = chain.balance(user.address, token_out)
    assert chain.receipt(chain.send(user, swap(output)))["status"] == 1
    assert chain.balance(user.address, token_out) - before == output


@pytest.mark.parametrize("fee_bps", [0, 25, 30])
def test_the_output_is_that_of_the_contracts_formula(facts: Chain, fee_bps: int) -> None:
    low, high = "0x" + "1" * 40, "0x" + "2" * 40
    venue = replace(facts.venues[1], fee_bps=fee_bps)
    amount, first, second = 123_456_789, 10**20, 7 * 10**10
    for token_in, token_out, r_in, r_out in ((low, high, first, second), (high, low, second, first)):
        expected = amount * (10_000 - fee_bps) * r_out // (r_in * 10_000 + amount * (10_000 - fee_bps))
        hop = PoolHop(venue, token_in, token_out, None, low)
        assert uniswap_v2.pool_output(hop, amount, (first, second, 0)) == expected


@pytest.mark.parametrize(
    ("amount", "reserves", "is_quoted"),
    [
        (1, (0, 0, 0), False),
        (MAX_RESERVE - 10, (10, 10, 0), True),
        (MAX_RESERVE - 9, (10, 10, 0), False),
    ],
)
def test_an_amount_that_a_pool_can_not_hold_has_no_quote(
    facts: Chain, amount: int, reserves: tuple[int, int, int], *, is_quoted: bool
) -> None:
    low, high = "0x" + "1" * 40, "0x" + "2" * 40
    hop = PoolHop(facts.venues[1], low, high, None, low)
    assert (uniswap_v2.pool_output(hop, amount, reserves) is not None) == is_quoted


def test_a_quote_of_a_route_without_amounts_is_none() -> None:
    assert uniswap_v2.quoted_output([[]]) is None
    assert uniswap_v2.quoted_output([[5, 4, 3]]) == 3
