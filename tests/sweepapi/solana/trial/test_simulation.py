"""A simulation's answer is read strictly; one that a node can't give is refused."""

from typing import Any

import pytest
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.system_program import transfer
from solders.transaction import VersionedTransaction

from sweepapi.rpc import Call
from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.encoding.addresses import SYSTEM
from sweepapi.solana.trial.simulation import ClusterSimulation, simulate_call
from tests.solana_cluster import SolanaCluster

GIVEN = 10**6
ACCOUNT = {"lamports": 5, "owner": str(SYSTEM), "data": ["", "base64"], "executable": False, "rentEpoch": 0}
WATCHED = [Pubkey.new_unique()]


def transfer_call(cluster: SolanaCluster, wallet: Keypair, recipient: Pubkey, lamports: int = GIVEN) -> Call:
    given = transfer({"from_pubkey": wallet.pubkey(), "to_pubkey": recipient, "lamports": lamports})
    message = cluster.message(wallet.pubkey(), [given])
    unsigned = VersionedTransaction.populate(message, [Signature.default()])
    return simulate_call(unsigned, [wallet.pubkey(), recipient, SYSTEM])


def simulated(cluster: SolanaCluster, call: Call) -> ClusterSimulation:
    decoded: ClusterSimulation = call.decode(cluster.rpc(call.method, *call.params))
    return decoded


def answer(**changed: Any) -> dict[str, Any]:
    value = {"err": None, "accounts": [ACCOUNT], "unitsConsumed": 150, "logs": ["done"], **changed}
    return {"context": {"slot": 7}, "value": value}


def decode(result: object) -> ClusterSimulation:
    transaction = VersionedTransaction.default()
    decoded: ClusterSimulation = simulate_call(transaction, WATCHED).decode(result)
    return decoded


def test_an_unsigned_transaction_is_simulated_and_changes_nothing(cluster: SolanaCluster) -> None:
    wallet, recipient = cluster.create_wallet(10**9), Pubkey.new_unique()

    simulation = simulated(cluster, transfer_call(cluster, wallet, recipient))

    assert simulation.error is None
    assert simulation.slot == cluster.bank.blocks.latest.slot
    assert simulation.units == 150
    assert simulation.accounts[recipient].lamports == GIVEN  # type: ignore[union-attr]
    assert simulation.accounts[wallet.pubkey()].lamports == 10**9 - GIVEN - 5_000  # type: ignore[union-attr]
    assert cluster.lamports(recipient) == 0


def test_an_old_blockhash_does_not_matter(cluster: SolanaCluster) -> None:
    call = transfer_call(cluster, cluster.create_wallet(10**9), Pubkey.new_unique())
    cluster.expire_blockhashes()

    assert simulated(cluster, call).error is None


def test_a_transaction_that_would_fail_says_why_and_shows_no_accounts(cluster: SolanaCluster) -> None:
    call = transfer_call(cluster, cluster.create_wallet(10**9), Pubkey.new_unique(), 10**10)

    simulation = simulated(cluster, call)

    assert simulation.error == {"InstructionError": [0, {"Custom": 1}]}
    assert simulation.accounts == {}
    assert "insufficient lamports" in "".join(simulation.logs)


def test_an_account_that_was_closed_may_be_null() -> None:
    assert decode(answer(accounts=[None])).accounts == {WATCHED[0]: None}


def test_only_the_last_lines_of_the_logs_are_kept_and_shortened() -> None:
    logs = decode(answer(logs=["x" * 1_000 + str(number) for number in range(100)])).logs

    assert len(logs) == 8
    assert {len(line) for line in logs} == {200}


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        {"value": answer()["value"]},
        {"context": {"slot": -1}, "value": answer()["value"]},
        {"context": {"slot": 7}, "value": None},
        answer(accounts=None),
        answer(accounts=[]),
        answer(accounts=[ACCOUNT, ACCOUNT]),
        answer(accounts=[{**ACCOUNT, "lamports": -1}]),
        answer(accounts=[{**ACCOUNT, "data": ["", "base58"]}]),
        answer(unitsConsumed=None),
        answer(unitsConsumed=1_400_001),
        answer(unitsConsumed=True),
        answer(logs="done"),
        answer(logs=[5]),
    ],
)
def test_what_a_node_can_not_answer_is_refused(result: object) -> None:
    with pytest.raises(BadResponseError):
        decode(result)
