"""Builds on what providers say that are inconsistent, late or wrong."""

import base64
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from solders.pubkey import Pubkey

from sweepapi.errors import ChainUnavailable, SwapUnavailable
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.solana.encoding.addresses import CLOCK, TOKEN, associated_account
from sweeps.models import Sweep
from tests import fake_node
from tests.fake_node import Alter, FakeNode
from tests.solana_cluster import SolanaCluster
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

PAID_BY_OTHERS = 7_777
AMOUNT = slice(64, 72)  # of a token account's data
TIMESTAMP = slice(32, 40)  # of the clock's data


@pytest.fixture
def node(user: SolanaUser, use_nodes: Callable[..., ProviderPool]) -> Iterator[FakeNode]:
    """The only provider, which forwards to the cluster."""
    with fake_node.running(user.cluster.url) as one:
        use_nodes(one.url)
        yield one


class BusyFeeAccount:
    """Other sweeps pay into the fee account between the simulations and the reading of the accounts before."""

    def __init__(self, fee_account: Pubkey, *, times: int) -> None:
        self.fee_account, self.times_left, self.was_simulated = str(fee_account), times, False

    def __call__(self, method: str, params: list[Any], result: Any) -> Any:
        if method == "simulateTransaction":
            self.was_simulated = True
        elif method == "getMultipleAccounts" and self.was_simulated and self.times_left:
            self.was_simulated, self.times_left = False, self.times_left - 1
            account = result["value"][params[0].index(self.fee_account)]
            data = bytearray(base64.b64decode(account["data"][0]))
            paid = int.from_bytes(data[AMOUNT], "little") + PAID_BY_OTHERS
            data[AMOUNT] = paid.to_bytes(8, "little")
            account["data"][0] = base64.b64encode(data).decode()
        return result


def fee_account(user: SolanaUser) -> Pubkey:
    return associated_account(user.cluster.fee_wallet, user.cluster.usdc, TOKEN)


def test_a_fee_account_that_others_pay_into_meanwhile_takes_one_request_more(user: SolanaUser, node: FakeNode) -> None:
    mint = user.hold()
    node.alter = BusyFeeAccount(fee_account(user), times=1)

    assert user.build({mint: DOLLAR})["feeSummary"]["totalFee"] == "7500"
    assert len(node.asked) == 4


def test_simulations_are_repeated_only_once(user: SolanaUser, node: FakeNode) -> None:
    mint = user.hold()
    node.alter = BusyFeeAccount(fee_account(user), times=9)

    with pytest.raises(SwapUnavailable):
        user.build({mint: DOLLAR})
    assert len(node.asked) == 4


@pytest.mark.parametrize("shift", [-150, -51, 51, 2**39])
def test_a_blockhash_that_expires_too_soon_or_never_is_not_built_on(
    user: SolanaUser, node: FakeNode, shift: int
) -> None:
    mint = user.hold()
    node.alter = valid_for(shift)

    with pytest.raises(ChainUnavailable):
        user.build({mint: DOLLAR})
    assert not Sweep.objects.exists()


@pytest.mark.parametrize("shift", [-50, 0, 50])
def test_nodes_behind_one_endpoint_may_be_some_blocks_apart(user: SolanaUser, node: FakeNode, shift: int) -> None:
    node.alter = valid_for(shift)

    assert user.build({user.hold(): DOLLAR})["transactions"]


def valid_for(shift: int) -> Alter:
    """Change for how many blocks a blockhash is valid."""

    def alter(method: str, _params: list[Any], result: Any) -> Any:
        if method == "getLatestBlockhash":
            result["value"]["lastValidBlockHeight"] = max(result["value"]["lastValidBlockHeight"] + shift, 0)
        return result

    return alter


def clock_behind(seconds: int) -> Alter:
    """Let the newest block be older."""

    def alter(method: str, params: list[Any], result: Any) -> Any:
        if (method, params[:1]) == ("getAccountInfo", [str(CLOCK)]):
            data = bytearray(base64.b64decode(result["value"]["data"][0]))
            data[TIMESTAMP] = (int(time.time()) - seconds).to_bytes(8, "little")
            result["value"]["data"][0] = base64.b64encode(data).decode()
        return result

    return alter


@pytest.fixture
def oldest_head(cluster: SolanaCluster, change_networks: Callable[..., Networks]) -> None:
    """Let heads be a minute old at most."""
    change_networks(clusters={"solana": replace(cluster.facts(), max_head_age_seconds=60)})


@pytest.mark.usefixtures("oldest_head")
def test_a_provider_that_stopped_is_not_built_on(user: SolanaUser, node: FakeNode) -> None:
    mint = user.hold()
    node.alter = clock_behind(90)

    with pytest.raises(ChainUnavailable):
        user.build({mint: DOLLAR})


@pytest.mark.usefixtures("oldest_head")
def test_another_provider_replaces_one_that_stopped(
    user: SolanaUser, node: FakeNode, use_nodes: Callable[..., ProviderPool]
) -> None:
    node.alter = clock_behind(90)
    use_nodes(node.url, user.cluster.url)

    assert user.build({user.hold(): DOLLAR})["transactions"]


@pytest.mark.usefixtures("oldest_head")
def test_a_provider_may_be_some_seconds_behind(user: SolanaUser, node: FakeNode) -> None:
    node.alter = clock_behind(30)

    assert user.build({user.hold(): DOLLAR})["transactions"]
