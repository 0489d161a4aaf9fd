"""How a user can approve is read from tokens that may do anything, each without the others."""

import pytest

from sweepapi import networks
from sweepapi.evm.tokens.erc20 import TokenFacts
from sweepapi.evm.tokens.token_permits import PermitKind
from sweepapi.evm.wallet.approvals import ApprovalFacts, ApprovalReads
from tests.factories.sweeps import LOCAL
from tests.local_chain import PERMIT2, LocalChain

AMOUNT = 100
BURNS_ALL_GAS = "5b600056"
RETURNS_A_MEGABYTE = "62100000" + "6000f3"
RETURNS_ONE = "600160005260206000f3"
REVERTS = "60006000fd"
STOPS = "00"


def facts_of(chain: LocalChain, allowances: dict[str, tuple[int, int]]) -> ApprovalFacts:
    """Read the facts of the first user, whose tokens report these allowances of Permit2 and of the contract."""
    reads = ApprovalReads(
        chain_id=chain.world["chainId"],
        multicall3=chain.contracts["multicall3"],
        permit2=PERMIT2,
        contract=chain.contracts["v5"],
        wallet=chain.users[0].address,
        code=b"",
        amounts=dict.fromkeys(allowances, AMOUNT),
        tokens={token: TokenFacts("", 0, 0, *given) for token, given in allowances.items()},
    )
    return reads.facts(networks.current().pool(LOCAL).batch(reads.calls))


@pytest.mark.parametrize("code", [BURNS_ALL_GAS, RETURNS_A_MEGABYTE, RETURNS_ONE, REVERTS, STOPS])
def test_a_hostile_token_takes_no_permits_and_does_not_affect_the_others(chain: LocalChain, code: str) -> None:
    hostile = chain.put_code("0x" + "b1" * 20, code)
    usdc, dai, link = (chain.token(symbol).address for symbol in ("USDC", "DAI", "LINK"))
    facts = facts_of(chain, dict.fromkeys([hostile, usdc, dai, link], (1, 1)))
    assert {token: its.kind for token, its in facts.permits.items()} == {
        usdc: PermitKind.EIP2612,
        dai: PermitKind.DAI,
    }
    assert facts.needs_reset & {usdc, dai, link} == set()
    assert facts.answers_eip1271 is None


def test_nothing_is_asked_where_the_allowances_suffice(chain: LocalChain) -> None:
    usdc, usdt = (chain.token(symbol).address for symbol in ("USDC", "USDT"))
    facts = facts_of(chain, {usdc: (AMOUNT, AMOUNT), usdt: (AMOUNT, 0)})
    assert facts == ApprovalFacts(
        frozenset(), {}, answers_eip1271=None, takes_batches=False, takes_plain_signature=None
    )
