"""The minimum of each transaction holds on chain, whatever its swaps pay once they are not simulated."""

import pytest
from solders.instruction import CompiledInstruction
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

from dev.solana.faucet import LAMPORTS_PER_SOL
from dev.solana.history.records import Landed
from sweepapi.solana.encoding.addresses import TOKEN, WRAPPED_SOL, associated_account
from tests.solana_cluster import SolanaCluster
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

TRANSFER_CHECKED = 12


def land_paying(user: SolanaUser, transaction: VersionedTransaction, mint: Pubkey, *, share: float) -> Landed:
    """Sign and land a transaction whose swaps pay the user this share of what they paid in the simulation."""
    message = transaction.message
    assert isinstance(message, MessageV0)
    received = message.account_keys.index(associated_account(user.key, mint, TOKEN))
    changed = MessageV0(
        message.header,
        message.account_keys,
        message.recent_blockhash,
        [_paying(one, received, share) for one in message.instructions],
        message.address_table_lookups,
    )
    return user.cluster.send(VersionedTransaction(changed, [user.keypair]))


def _paying(one: CompiledInstruction, received: int, share: float) -> CompiledInstruction:
    kind, amount, decimals = one.data[:1], int.from_bytes(one.data[1:9], "little"), one.data[9:]
    if kind != bytes([TRANSFER_CHECKED]) or one.accounts[2] != received or one.accounts[0] == received:
        return one
    paid = int(amount * share).to_bytes(8, "little")
    return CompiledInstruction(one.program_id_index, kind + paid + decimals, one.accounts)


@pytest.fixture(params=["USDC", "SOL"])
def output(request: pytest.FixtureRequest, cluster: SolanaCluster) -> Pubkey:
    return cluster.usdc if request.param == "USDC" else WRAPPED_SOL


@pytest.mark.parametrize("held", [0, 3 * LAMPORTS_PER_SOL], ids=["holds none", "holds some"])
@pytest.mark.parametrize(("share", "lands"), [(1.0, True), (0.996, True), (0.994, False), (0.0, False)])
def test_swaps_that_pay_less_than_the_minimum_fail_and_the_user_keeps_the_tokens(
    user: SolanaUser, output: Pubkey, held: int, *, share: float, lands: bool
) -> None:
    if held:
        user.cluster.faucet.give_tokens(user.key, output, held)
    tokens = {user.hold(300 * DOLLAR): 300 * DOLLAR, user.hold(150 * DOLLAR): 150 * DOLLAR}
    (built,) = user.build(tokens, output_asset=str(output))["transactions"]

    landed = land_paying(user, user.sign(built), output, share=share)

    assert (landed.outcome.err is None) is lands
    assert [user.balance(mint) for mint in tokens] == ([0, 0] if lands else list(tokens.values()))


def test_a_user_who_spent_of_the_output_since_the_build_keeps_the_tokens(user: SolanaUser) -> None:
    account = user.cluster.faucet.give_tokens(user.key, user.cluster.usdc, 100 * DOLLAR)
    mint = user.hold()
    built = user.build({mint: 5 * DOLLAR})
    user.spend(account, user.cluster.usdc, 10 * DOLLAR)

    (landed,) = user.send(built)

    assert landed.outcome.err is not None
    assert user.balance(mint) == 5 * DOLLAR


@pytest.mark.parametrize("reverse", [False, True])
def test_the_transactions_of_a_sweep_land_in_any_order(user: SolanaUser, output: Pubkey, *, reverse: bool) -> None:
    user.cluster.faucet.give_tokens(user.key, output, 3 * LAMPORTS_PER_SOL)
    tokens = {user.hold(150 * DOLLAR): 150 * DOLLAR for _ in range(10)}
    transactions = user.build(tokens, output_asset=str(output))["transactions"]
    assert len(transactions) > 1

    landed = user.send({"transactions": transactions[::-1] if reverse else transactions})

    assert [one.outcome.err for one in landed] == [None] * len(transactions)
