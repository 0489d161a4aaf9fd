"""What rarely changes is read once and known for a while; what changes is read for every build."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from eth_abi.abi import decode

from dev.chain.sender import calldata
from sweepapi import networks
from sweepapi.evm.chain.multicall import AGGREGATE3
from sweepapi.evm.market.lasting import (
    MAX_POOLS,
    MAX_TOKENS,
    MISSING_POOL_SECONDS,
    POOL_SECONDS,
    TOKEN_SECONDS,
    LastingFacts,
    TokenAnswer,
)
from sweepapi.evm.market.reading import Contract, Market, MarketFacts
from sweepapi.evm.pools.finder import PoolKey
from sweepapi.evm.pools.types import Hop
from sweepapi.evm.pools.uniswap_v2 import GET_PAIR
from sweepapi.evm.pools.uniswap_v3 import GET_POOL
from sweepapi.evm.tokens.erc20 import ALLOWANCE, APPROVE, BALANCE_OF, DECIMALS, NAME, SYMBOL, TokenIdentity
from sweepapi.rpc import Call, Provider
from tests.factories.sweeps import CONTRACT, LOCAL
from tests.local_chain import PERMIT2, LocalChain

SEVEN = "60075f5260205ff3"  # returns 7 for any call
BURNS_ALL_GAS = "fe"
HASH = "0x" + "ab" * 20


@dataclass
class Reader:
    """Reads the facts of a build, and counts the reads by the selector of their functions."""

    chain: LocalChain
    seconds: float = 0
    asked: list[bytes] = field(default_factory=list)
    lasting: LastingFacts = field(init=False)

    def __post_init__(self) -> None:
        self.lasting = LastingFacts(clock=lambda: self.seconds)

    @property
    def market(self) -> Market:
        return Market(
            chain=networks.current().chain(LOCAL),
            pool=networks.current().pool(LOCAL),
            lasting=self.lasting,
            wallet=self.chain.users[0].address,
            contract=Contract(CONTRACT, requirements=()),
            output=self.chain.token("USDC").address,
        )

    def read(self, *tokens: str) -> MarketFacts:
        """Read the facts of tokens, and forget the count of what was asked before."""
        self.asked.clear()
        return self.market.read_facts(swept=tokens, permit_words=())

    def count(self, *selectors: bytes) -> int:
        return sum(self.asked.count(selector) for selector in selectors)


@pytest.fixture
def reader(chain: LocalChain, monkeypatch: pytest.MonkeyPatch) -> Reader:
    made, post = Reader(chain), Provider._post  # noqa: SLF001 every request goes through it

    def counted(provider: Provider, calls: Sequence[Call], timeout_seconds: float) -> Mapping[int, Any]:
        made.asked += [selector for call in calls for selector in selectors_of(call)]
        return post(provider, calls, timeout_seconds)

    monkeypatch.setattr(Provider, "_post", counted)
    return made


def selectors_of(call: Call) -> Iterator[bytes]:
    """Yield the selector of each read that a call makes through Multicall3."""
    data = bytes.fromhex(call.params[0]["data"][2:]) if call.method == "eth_call" else b""
    if data.startswith(AGGREGATE3.selector):
        (reads,) = decode(["(address,bool,bytes)[]"], data[4:])
        yield from (read[:4] for _, _, read in reads)


POOLS = (GET_PAIR.selector, GET_POOL.selector)
IDENTITY = (DECIMALS.selector, SYMBOL.selector, NAME.selector)


def test_the_second_build_reads_only_what_changes(reader: Reader) -> None:
    tokens = [reader.chain.token(symbol).address for symbol in ("DAI", "LINK", "UNI")]
    first = reader.read(*tokens)
    assert (reader.count(*IDENTITY) > 0, reader.count(*POOLS) > 0) == (True, True)
    second = reader.read(*tokens)
    assert (reader.count(*IDENTITY), reader.count(*POOLS)) == (0, 0)
    of_all = len(tokens) + 1  # with the output, which is also the reference token
    assert (reader.count(BALANCE_OF.selector), reader.count(ALLOWANCE.selector)) == (of_all, 2 * of_all)
    assert (second.tokens, second.pools) == (first.tokens, first.pools)
    assert list(second.pools) == list(first.pools)


def test_a_build_of_other_tokens_reads_what_is_not_known_of_them(reader: Reader) -> None:
    dai, link = (reader.chain.token(symbol).address for symbol in ("DAI", "LINK"))
    reader.read(dai)
    facts = reader.read(dai, link)
    assert reader.count(DECIMALS.selector) == 1
    assert set(facts.tokens) == {dai, link, reader.market.output}


def test_balances_and_allowances_are_current(reader: Reader) -> None:
    dai, user = reader.chain.token("DAI"), reader.chain.users[0]
    reader.read(dai.address)
    data = f"0x{APPROVE.encode(PERMIT2, 5).hex()}"
    reader.chain.send(user, {"to": dai.address, "data": data})
    reader.chain.send(user, {"to": dai.address, "data": f"0x{calldata('transfer(address,uint256)', HASH, 7).hex()}"})
    facts = reader.read(dai.address).tokens[dai.address]
    assert (facts.allowance, facts.balance) == (5, reader.chain.balance(user.address, dai))


def test_what_a_token_reports_about_itself_is_read_again_after_its_age(reader: Reader) -> None:
    dai = reader.chain.token("DAI").address
    reader.read(dai)
    reader.chain.put_code(dai, SEVEN)
    reader.seconds = TOKEN_SECONDS - 1
    assert reader.read(dai).tokens[dai].decimals == 18
    reader.seconds = TOKEN_SECONDS
    assert reader.read(dai).tokens[dai].decimals == 7


def test_a_new_pool_is_found_within_a_minute(reader: Reader) -> None:
    dai, link = (reader.chain.token(symbol).address for symbol in ("DAI", "LINK"))
    factory = reader.chain.contracts["uniswapV2Factory"]
    market = replace(reader.market, output=link)
    place = PoolKey("uniswap_v2", factory, Hop(dai, link))
    assert place not in market.read_facts(swept=[dai], permit_words=()).pools
    data = f"0x{calldata('createPair(address,address)', dai, link).hex()}"
    reader.chain.send(reader.chain.users[0], {"to": factory, "data": data})
    reader.seconds = MISSING_POOL_SECONDS
    assert place in market.read_facts(swept=[dai], permit_words=()).pools


def test_pools_that_exist_are_known_for_longer_than_those_that_do_not(reader: Reader) -> None:
    dai = reader.chain.token("DAI").address
    reader.read(dai)
    all_reads = reader.count(*POOLS)
    reader.seconds = MISSING_POOL_SECONDS
    existing = reader.read(dai).pools
    assert reader.count(*POOLS) == all_reads - len(existing)
    reader.seconds = POOL_SECONDS
    reader.read(dai)
    assert reader.count(*POOLS) == all_reads


def test_a_pool_that_a_reorganization_removed_gives_no_quote(reader: Reader) -> None:
    dai = reader.chain.token("DAI")
    amounts = {dai.address: dai.units(1)}
    known = reader.read(dai.address).pools
    for place, pool in known.items():
        if dai.address in (place.hop.token_in, place.hop.token_out):
            reader.chain.put_code(pool, "")
    facts = reader.read(dai.address)
    assert facts.pools == known
    assert not reader.market.read_quotes(amounts=amounts, facts=facts).basket.ways[dai.address].is_open


@pytest.mark.parametrize("code", ["", BURNS_ALL_GAS, "5f5ffd"], ids=["no code", "burns all gas", "reverts"])
def test_what_is_not_a_token_is_not_kept(reader: Reader, code: str) -> None:
    address = reader.chain.put_code("0x" + "77" * 20, code)
    for _ in range(2):
        assert address not in reader.read(address).tokens
        assert reader.count(DECIMALS.selector) >= 1
    dai_code = reader.chain.rpc("eth_getCode", reader.chain.token("DAI").address, "latest")
    reader.chain.put_code(address, dai_code[2:])
    assert reader.read(address).tokens[address].balance == 0


def test_a_token_without_a_name_is_asked_again(reader: Reader) -> None:
    dai = reader.chain.put_code(reader.chain.token("DAI").address, SEVEN)
    for _ in range(2):
        assert reader.read(dai).tokens[dai].name == ""
        assert reader.count(NAME.selector) >= 1


def test_a_token_that_stopped_answering_is_not_a_token(reader: Reader) -> None:
    dai = reader.chain.token("DAI").address
    pools = reader.read(dai).pools
    reader.chain.put_code(dai, BURNS_ALL_GAS)
    facts = reader.read(dai)
    assert (dai in facts.tokens, facts.pools) == (False, pools)


def identity(number: int) -> TokenAnswer:
    key = PoolKey("uniswap_v2", HASH, Hop(f"{number}", HASH))
    return TokenAnswer(f"{number}", None, {}, TokenIdentity("T", 18, "Token"), {key: None})


def test_however_many_tokens_are_named_the_memory_is_bounded() -> None:
    lasting, count = LastingFacts(), MAX_POOLS + 5
    answers = [identity(number) for number in range(count)]
    for start in range(0, count, 100):
        lasting.keep(answers[start : start + 100])
    lookups = lasting.lookups({answer.token: list(answer.new_pools) for answer in answers})
    assert [lookup.token for lookup in lookups if lookup.identity is not None] == [
        answer.token for answer in answers[-MAX_TOKENS:]
    ]
    assert [lookup.token for lookup in lookups if lookup.pools] == [answer.token for answer in answers[5:]]


@pytest.mark.usefixtures("two_chains")
def test_chains_do_not_share_what_is_known() -> None:
    base, arbitrum = (networks.current().lasting_facts[network] for network in ("eip155:8453", "eip155:42161"))
    answer = identity(1)
    base.keep([answer])
    places: dict[str, Sequence[PoolKey]] = {answer.token: list(answer.new_pools)}
    assert [(one.identity, one.pools) for one in base.lookups(places)] == [(answer.new_identity, answer.new_pools)]
    assert [(one.identity, one.pools) for one in arbitrum.lookups(places)] == [(None, {})]


def test_another_registry_does_not_share_it(change_networks: Callable[..., Any]) -> None:
    before = networks.current().lasting_facts[LOCAL]
    assert networks.current().lasting_facts[LOCAL] is before
    change_networks(rpc_timeout_seconds=1.0)
    assert networks.current().lasting_facts[LOCAL] is not before
