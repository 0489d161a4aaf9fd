"""Reads in one call fail independently, and a token that fails its call affects no other token."""

from collections.abc import Callable

import pytest

from sweepapi.evm.chain.multicall import BLOCK_TIMESTAMP, Read, multicall
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.evm.tokens.erc20 import BALANCE_OF, DECIMALS, SYMBOL
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import CallFailedError, ChainUnavailableError
from tests.local_chain import LocalChain

REVERTS = "60006000fd"


@pytest.fixture
def pool(chain: LocalChain, use_providers: Callable[..., ProviderPool]) -> ProviderPool:
    return use_providers(chain.world["rpcUrl"])


def reads_of(chain: LocalChain, *reads: Read, **options: bool | str | int) -> Call:
    return multicall(multicall3=chain.contracts["multicall3"], reads=reads, **options)  # type: ignore[arg-type]


def test_each_read_has_its_values_or_none(chain: LocalChain, pool: ProviderPool) -> None:
    usdc, codeless = chain.token("USDC").address, "0x" + "ee" * 20
    call = reads_of(
        chain,
        Read(usdc, DECIMALS),
        Read(codeless, DECIMALS),
        Read(chain.put_code("0x" + "b3" * 20, REVERTS), DECIMALS),
        Read(usdc, SYMBOL),
        Read(usdc, BALANCE_OF, (ZERO_ADDRESS,)),
    )
    assert pool.batch([call]) == [[(6,), None, None, ("USDC",), (0,)]]


def test_a_required_read_that_fails_makes_the_whole_response_unusable(chain: LocalChain, pool: ProviderPool) -> None:
    codeless = Read("0x" + "ee" * 20, DECIMALS)
    with pytest.raises(ChainUnavailableError):
        pool.batch([reads_of(chain, codeless, require_all=True)])


def test_a_block_before_the_deployment_of_multicall3_is_a_failed_call(pool: ProviderPool) -> None:
    codeless = "0x" + "ee" * 20
    call = multicall(multicall3=codeless, reads=[Read(codeless, BLOCK_TIMESTAMP)], error_policy=ErrorPolicy.EXECUTION)
    (failure,) = pool.batch([call])
    assert isinstance(failure, CallFailedError)


def test_a_read_at_a_height_sees_that_block(chain: LocalChain, pool: ProviderPool) -> None:
    height = chain.web3.eth.block_number
    timestamp = chain.web3.eth.get_block(height)["timestamp"]
    chain.mine(seconds=500)
    multicall3 = chain.contracts["multicall3"]
    assert pool.batch([reads_of(chain, Read(multicall3, BLOCK_TIMESTAMP), at=height)]) == [[(timestamp,)]]
