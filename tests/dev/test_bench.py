"""The benchmark of builds: its targets, and the reads that it takes batches apart into."""

import json

import pytest

from dev.bench import latency, proxy
from dev.bench.report import Target
from sweepapi.evm.chain.multicall import Read, multicall
from sweepapi.evm.tokens.erc20 import BALANCE_OF, DECIMALS
from tests.local_chain import LocalChain


@pytest.mark.parametrize(
    ("measured", "at_least", "met"), [(4, False, True), (5, False, False), (4, True, True), (3.9, True, False)]
)
def test_a_target_is_met_at_its_bound(measured: float, at_least: bool, met: bool) -> None:  # noqa: FBT001 - of a case
    target = Target("round trips", measured, 4, at_least=at_least)
    assert target.met is met
    bound = "at least" if at_least else "at most"
    assert str(target) == f"round trips: measured {measured}, target {bound} 4, {'met' if met else 'missed'}"


def test_a_call_of_multicall3_is_taken_apart_into_its_reads(chain: LocalChain) -> None:
    usdc, holder = chain.token("USDC").address, chain.users[0].address
    reads = [Read(usdc, DECIMALS), Read(usdc, BALANCE_OF, (holder,))]
    call = multicall(multicall3=chain.contracts["multicall3"], reads=reads)
    singles = list(latency.reads_of({"method": call.method, "params": list(call.params)}))
    results = [int(chain.rpc(single["method"], *single["params"]), 16) for single in singles]
    assert results == [6, chain.balance(holder, chain.token("USDC"))]


def test_other_calls_stay_whole() -> None:
    call = {"method": "eth_blockNumber", "params": []}
    assert list(latency.reads_of(call)) == [call]


def test_the_proxy_forwards_and_keeps_what_it_was_asked(chain: LocalChain) -> None:
    with proxy.running(chain.world["rpcUrl"], delay_seconds=0) as node:
        through = LocalChain({**chain.world, "rpcUrl": node.url})
        assert through.rpc("eth_chainId") == chain.rpc("eth_chainId")
    assert [json.loads(body)["method"] for body in node.asked] == ["eth_chainId"]
