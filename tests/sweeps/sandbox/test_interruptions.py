"""A change of the chain that fails in the middle, by its node: the next one restores what others had on the chain."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Self
from uuid import uuid4

import pytest
from django.utils import timezone

from sweepapi.errors import ChainUnavailable
from sweeps.models import SandboxChain
from sweeps.sandbox import replacing, turns
from sweeps.sandbox.node import TIMEOUT_SECONDS, NodeRefusedError, SandboxNode
from sweeps.sandbox.outcomes import ForcedOutcome
from sweeps.sandbox.replacing import Replacement
from sweeps.sandbox.turns import CHANGE_SECONDS, LEASE_SECONDS, Unfinished
from tests.factories.sweeps import LOCAL
from tests.partner_app import error_of
from tests.sweeps.sandbox.tester import COIN, REQUESTS, SandboxUser

pytestmark = pytest.mark.django_db

REFUSAL = NodeRefusedError({"code": -32000, "message": "no"})


class FailingNode:
    """Has the node fail at a call, before or after it did what it was asked, and at each later one if it hangs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._ask = SandboxNode.ask

    def fails(self, method: str, *, at: int = 1, after: bool = False, error: Exception = REFUSAL) -> None:
        calls: list[str] = []
        original = self._ask
        hangs = isinstance(error, ChainUnavailable)

        def ask(node: SandboxNode, asked: str, *params: object) -> Any:
            if hangs and len(calls) >= at:
                raise error
            calls.extend([asked] * (asked == method))
            if asked != method or len(calls) != at:
                return original(node, asked, *params)
            if after:
                original(node, asked, *params)
            raise error

        self._monkeypatch.setattr(SandboxNode, "ask", ask)

    def recovers(self) -> None:
        self._monkeypatch.setattr(SandboxNode, "ask", self._ask)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> FailingNode:
    return FailingNode(monkeypatch)


@dataclass(frozen=True)
class Replaced:
    """The next advance of the tester removes its transaction from its block; above are a funding and a transfer."""

    tester: SandboxUser
    other: SandboxUser
    removed: str
    kept: str

    @classmethod
    def of(cls, tester: SandboxUser) -> Self:
        tester.fund()
        removed, other = tester.send_scripted(ForcedOutcome.REORGANISED), SandboxUser(tester.app)
        tester.app.chain.receipt(removed)
        other.fund()
        kept = other.send(other.wallet.address, "0x")
        tester.app.chain.receipt(kept)
        return cls(tester, other, removed, kept)

    def receipt(self) -> Any:
        """Return that of the transfer."""
        return self.other.rpc("eth_getTransactionReceipt", self.kept)

    def advance(self) -> tuple[int, str]:
        return error_of(self.tester.post("/advance", {"chain": "local"}))


@pytest.fixture
def replaced(tester: SandboxUser) -> Replaced:
    return Replaced.of(tester)


@pytest.mark.parametrize("error", [ChainUnavailable(), REFUSAL])
@pytest.mark.parametrize(
    "failure",
    [
        {"method": "anvil_rollback"},
        {"method": "anvil_rollback", "after": True},
        {"method": "eth_sendRawTransaction", "after": True},
        {"method": "eth_sendRawTransaction", "at": 9, "after": True},
        {"method": "evm_mine"},
        {"method": "evm_mine", "at": 2, "after": True},
        {"method": "evm_mine", "at": 3},
        {"method": "evm_mine", "at": 3, "after": True},
    ],
)
def test_blocks_that_were_being_replaced_are_replaced_by_the_next_change(
    replaced: Replaced, node: FailingNode, failure: dict[str, Any], error: Exception
) -> None:
    if error is REFUSAL and failure["method"] == "eth_sendRawTransaction":
        error = ChainUnavailable()  # a transaction that is refused is left out
    old = replaced.receipt()
    node.fails(**failure, error=error)
    assert replaced.advance() == (503, "chain_unavailable")
    node.recovers()

    head = SandboxUser(replaced.tester.app).fund()["head"]["number"]
    new, other = replaced.receipt(), replaced.other
    assert (new["blockNumber"], new["status"]) == (old["blockNumber"], "0x1") == (hex(head - 1), "0x1")
    assert new["blockHash"] != old["blockHash"]
    assert other.app.chain.balance_of(other.wallet.address, other.tokens()["script"]) == 1000 * COIN
    assert not other.is_mined(replaced.removed)

    replaced.tester.advance()
    assert replaced.tester.is_mined(replaced.removed)
    assert replaced.receipt() == new  # the blocks were not replaced once more


def test_a_replacement_that_was_not_interrupted_is_not_repeated(replaced: Replaced) -> None:
    replaced.tester.advance()
    assert Unfinished(LOCAL).read() is None


def test_a_replacement_that_the_node_refuses_again_does_not_stop_the_sandbox(
    replaced: Replaced, node: FailingNode
) -> None:
    node.fails("evm_mine")
    assert replaced.advance() == (503, "chain_unavailable")
    node.fails("evm_mine")
    replaced.tester.advance()
    assert Unfinished(LOCAL).read() is None


def test_a_replacement_of_another_chain_is_forgotten(tester: SandboxUser, asked: Callable[..., list[str]]) -> None:
    former = Replacement(first=1, parent_hash="0x" + "0a" * 32, timestamps=[1], transactions=[[]])
    SandboxChain.objects.create(network=LOCAL, unfinished=asdict(former))
    methods = asked()
    tester.fund()
    assert "anvil_rollback" not in methods
    assert Unfinished(LOCAL).read() is None


def test_a_transaction_is_mined_also_after_a_change_that_left_mining_off(tester: SandboxUser) -> None:
    tester.fund()
    tester.app.chain.rpc("evm_setAutomine", False)  # noqa: FBT003 JSON-RPC
    tester.app.chain.receipt(tester.send(tester.wallet.address, "0x"))


@pytest.mark.parametrize("change", ["advance", "fund", "send"])
def test_nothing_is_sent_or_mined_while_another_changes_the_chain(
    tester: SandboxUser, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    tester.fund()
    signed = tester.sign(tester.wallet.address, "0x")
    send = {"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [signed]}
    path, body = {"advance": REQUESTS[0], "fund": REQUESTS[1], "send": ("/rpc/local", send)}[change]
    head = tester.rpc("eth_blockNumber")
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.1)
    with turns.taking_turn(LOCAL):
        assert error_of(tester.post(path, body)) == (503, "service_unavailable")
        assert tester.rpc("eth_blockNumber") == head
        assert tester.rpc("eth_getTransactionCount", tester.wallet.address, "pending") == "0x0"
    assert "error" not in tester.post(path, body).json()


def test_a_change_ends_before_its_lease_does(tester: SandboxUser, monkeypatch: pytest.MonkeyPatch) -> None:
    one_call = 3 * TIMEOUT_SECONDS  # to connect, for the first byte, and for the rest
    assert CHANGE_SECONDS + one_call <= LEASE_SECONDS
    monkeypatch.setattr(replacing, "CHANGE_SECONDS", -1.0)
    for path, body in REQUESTS[:2]:
        assert error_of(tester.post(path, body)) == (503, "chain_unavailable")


def test_a_turn_that_was_never_given_back_is_over_after_its_lease(tester: SandboxUser) -> None:
    over = timezone.now() - timedelta(seconds=1)
    SandboxChain.objects.create(network=LOCAL, lease_token=uuid4(), lease_until=over)
    tester.advance()
    assert SandboxChain.objects.get(network=LOCAL).lease_token is None
