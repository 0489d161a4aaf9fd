"""A probe measures what a token delivers, and a hostile token fails its own probes only."""

import json

import pytest

from dev.chain.artifacts import CONTRACTS
from sweepapi.evm.chain.providers import evm_pool
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.tokens.probe import PROBES_PER_CALL, Probe, TransferTest, grouped, transfer_probes
from sweepapi.rpc import ProviderPool
from tests.local_chain import LocalChain

BURNS_ALL_GAS = "fe"
ANSWERS_NOTHING = "00"
REVERTS = "60006000fd"
A, B = ("0x" + digit * 40 for digit in "12")
TREAT = Function("treat(address,uint8,uint8)")
TAXED_BELOW_ONE_TOKEN = 3  # as in HoneypotToken.sol


@pytest.fixture
def pool(chain: LocalChain) -> ProviderPool:
    return evm_pool(urls=[chain.world["rpcUrl"]], chain_id=chain.world["chainId"], timeout_seconds=10)


def results_of(chain: LocalChain, pool: ProviderPool, *probes: Probe) -> list[TransferTest | None]:
    (results,) = pool.batch([transfer_probes(probes, multicall3=chain.contracts["multicall3"])])
    return list(results)


def from_user(token: str, amount: int, holder: str) -> Probe:
    return Probe(token, holder, amount, is_pool=False)


@pytest.mark.parametrize(("symbol", "taxed"), [("USDC", False), ("USDT", False), ("TFEE", True)])
def test_a_probe_detects_a_transfer_fee(chain: LocalChain, pool: ProviderPool, symbol: str, *, taxed: bool) -> None:
    token = chain.token(symbol)
    (test,) = results_of(chain, pool, from_user(token.address, token.units(1), chain.users[0].address))
    assert test is not None
    assert (test.sent, test.taxed) == (token.units(1), taxed)


def test_a_fee_on_small_amounts_alone_is_detected(chain: LocalChain, pool: ProviderPool) -> None:
    uni, user = chain.token("UNI").address, chain.users[0]
    compiled = json.loads((CONTRACTS / "out/HoneypotToken.sol/HoneypotToken.json").read_text(encoding="utf-8"))
    chain.put_code(uni, compiled["deployedBytecode"]["object"].removeprefix("0x"))
    data = "0x" + TREAT.encode(user.address, TAXED_BELOW_ONE_TOKEN, 0).hex()
    assert chain.receipt(chain.send(user, {"to": uni, "data": data}))["status"] == 1
    amounts = [200 * 10**18, 50 * 10**18, 2 * 10**18]
    for amount, parts_arrive in zip(amounts, [True, False, False], strict=True):
        (test,) = results_of(chain, pool, from_user(uni, amount, user.address))
        assert test == TransferTest(amount, amount, amount, parts_arrive=parts_arrive)
        assert test.taxed != parts_arrive


def test_the_probes_of_a_token_have_results_of_their_own(chain: LocalChain, pool: ProviderPool) -> None:
    token, stranger = chain.token("TFEE"), "0x" + "ee" * 20
    holders = [chain.users[0].address, stranger, chain.users[1].address]
    first, empty, second = results_of(chain, pool, *(from_user(token.address, 10_000, holder) for holder in holders))
    assert first == second == TransferTest(10_000, 9_900, 9_801, parts_arrive=False)
    assert empty == TransferTest(0, 0, 0)


@pytest.mark.parametrize("code", [BURNS_ALL_GAS, ANSWERS_NOTHING, REVERTS])
def test_a_hostile_token_fails_its_probes_and_nothing_else(chain: LocalChain, pool: ProviderPool, code: str) -> None:
    hostile, honest = chain.put_code("0x" + "b4" * 20, code), chain.token("USDC").address
    holders = [user.address for user in chain.users[:2]]
    bad, good = pool.batch(
        [
            transfer_probes([from_user(token, 1, one) for one in holders], multicall3=chain.contracts["multicall3"])
            for token in (hostile, honest)
        ]
    )
    assert bad == [None, None]
    assert good == [TransferTest(1, 1, 1)] * 2


def test_a_call_has_the_probes_of_one_token_and_not_too_many() -> None:
    probes = [Probe(token, f"0x{i:040x}", 1, is_pool=True) for i in range(PROBES_PER_CALL + 1) for token in (A, B)]
    groups = list(grouped(probes))
    assert [{probe.token for probe in group} for group in groups] == [{A}, {A}, {B}, {B}]
    assert max(map(len, groups)) == PROBES_PER_CALL
    assert sorted(map(hash, probes)) == sorted(hash(probe) for group in groups for probe in group)


def test_every_holder_sends_to_an_address_of_its_own() -> None:
    assert from_user(A, 1, holder=A).peer != from_user(A, 1, holder=B).peer
