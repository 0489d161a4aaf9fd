"""A payment on Solana counts only if a final transaction shows that our wallet paid exactly the amount."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction
from spl.token import instructions as token
from spl.token import models
from spl.token.constants import TOKEN_2022_PROGRAM_ID, WRAPPED_SOL_MINT

from dev.solana.extensions import transfer_fee
from sweepapi import networks
from sweepapi.networks import Networks
from sweepapi.payments import Expected, Payment, PaymentError
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.landed.payments import check_payment
from tests import fake_node
from tests.fake_node import FakeNode
from tests.solana_cluster import SolanaCluster
from tests.solana_payments import ClusterTreasury

Treasury = ClusterTreasury
Nodes = Callable[..., ProviderPool]
AMOUNT = 1_000_000
OPTIONS = {"encoding": "base64", "maxSupportedTransactionVersion": 1}
CONTEXT = {"context": {"slot": 1}}


@pytest.fixture
def treasury(cluster_treasury: Treasury) -> Treasury:
    return cluster_treasury


@pytest.fixture
def wallet() -> str:
    """The partner's."""
    return str(Keypair().pubkey())


def check(
    signature: str, recipient: str, amount: int = AMOUNT, *, mint: Pubkey | None = None, former: Sequence[str] = ()
) -> Payment:
    """Check a payment, by default of USDC, the first output token."""
    registry = networks.current()
    solana = registry.clusters["solana"]
    expected = Expected(signature, str(mint or solana.output_tokens[0].mint), (recipient, *former), amount)
    return check_payment(expected, senders=registry.payout_senders(solana.network), pool=registry.pool(solana.network))


def problem(signature: str, recipient: str, amount: int = AMOUNT, *, mint: Pubkey | None = None) -> tuple[str, str]:
    """Return the code and the sentence with which a payment is refused."""
    with pytest.raises(PaymentError) as refused:
        check(signature, recipient, amount, mint=mint)
    return refused.value.problem, str(refused.value)


# --- what was paid ----------------------------------------------------------------------------------------------------


def test_a_final_transfer_of_the_token_is_the_payment(treasury: Treasury, wallet: str) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    slot = treasury.cluster.rpc("getTransaction", signature, OPTIONS)["slot"]
    assert check(signature, wallet) == Payment(treasury.address, wallet, slot)


def test_the_fee_wallet_pays_where_the_file_names_no_senders(
    cluster: SolanaCluster, wallet: str, change_networks: Callable[..., Networks]
) -> None:
    treasury = Treasury(cluster, cluster.create_wallet())
    change_networks(fee_wallet=treasury.address)
    assert check(treasury.pay(wallet, AMOUNT), wallet).sender == treasury.address
    change_networks(fee_wallet="")
    assert networks.current().payout_senders(cluster.network) == ()


def test_a_payment_to_any_of_the_recipients_counts_and_names_it(treasury: Treasury, wallet: str) -> None:
    former = [str(Keypair().pubkey()) for _ in range(2)]
    signature = treasury.pay(former[1], AMOUNT)
    assert check(signature, wallet, former=former).recipient == former[1]
    with pytest.raises(PaymentError, match=f"paid {AMOUNT} units to {former[1]}, and not 7"):
        check(signature, wallet, 7, former=former)


@pytest.mark.parametrize("difference", [-1, 1])
def test_another_amount_is_refused_with_what_was_paid(treasury: Treasury, wallet: str, difference: int) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    code, sentence = problem(signature, wallet, AMOUNT + difference)
    assert code == "wrong_amount"
    assert f"paid {AMOUNT} units" in sentence


def test_a_payment_from_another_wallet_is_refused_with_that_wallet(treasury: Treasury, wallet: str) -> None:
    stranger = Treasury(treasury.cluster, treasury.cluster.create_wallet())
    code, sentence = problem(stranger.pay(wallet, AMOUNT), wallet)
    assert (code, stranger.address in sentence) == ("wrong_sender", True)
    assert treasury.address not in sentence


def test_a_payment_to_another_wallet_is_refused_with_that_wallet(treasury: Treasury, wallet: str) -> None:
    other = str(Keypair().pubkey())
    code, sentence = problem(treasury.pay(other, AMOUNT), wallet)
    assert (code, other in sentence, wallet in sentence) == ("wrong_recipient", True, True)


def test_another_token_is_not_the_payment(treasury: Treasury, wallet: str) -> None:
    other = treasury.cluster.faucet.create_mint(6)
    assert problem(treasury.pay(wallet, AMOUNT, other), wallet)[0] == "not_paid"


def test_a_token_of_token_2022_is_paid_with_what_arrived_after_its_fee(treasury: Treasury, wallet: str) -> None:
    mint = treasury.cluster.faucet.create_mint(6, program=TOKEN_2022_PROGRAM_ID, extensions=[transfer_fee(100)])
    signature = treasury.pay(wallet, AMOUNT, mint)
    assert check(signature, wallet, 990_000, mint=mint).sender == treasury.address
    assert problem(signature, wallet, mint=mint)[0] == "wrong_amount"


def test_sol_is_paid_as_wrapped_sol_that_existed_before(treasury: Treasury, wallet: str) -> None:
    signature = treasury.pay(wallet, AMOUNT, WRAPPED_SOL_MINT)
    assert check(signature, wallet, mint=WRAPPED_SOL_MINT).sender == treasury.address


def test_tokens_that_were_minted_to_the_wallet_were_not_paid_by_us(treasury: Treasury, wallet: str) -> None:
    account = treasury.cluster.faucet.create_account(Pubkey.from_string(wallet), treasury.cluster.usdc)
    mint = models.MintToParams(
        program_id=treasury.cluster.faucet.program_of(treasury.cluster.usdc),
        mint=treasury.cluster.usdc,
        dest=account,
        mint_authority=treasury.cluster.faucet.key,
        amount=AMOUNT,
    )
    signature = str(treasury.cluster.faucet.run([token.mint_to(mint)]))
    treasury.cluster.finalize()
    assert treasury.address
    code, sentence = problem(signature, wallet)
    assert (code, str(treasury.cluster.usdc) in sentence) == ("wrong_sender", True)


def test_several_partners_may_be_paid_by_one_transaction(treasury: Treasury, wallet: str) -> None:
    other = str(Keypair().pubkey())
    transfers = [treasury.transfer(recipient, AMOUNT) for recipient in (wallet, other)]
    signature = treasury.land(transfers)
    treasury.cluster.finalize()
    assert {check(signature, recipient).recipient for recipient in (wallet, other)} == {wallet, other}


def test_a_payout_to_many_partners_in_a_transaction_of_version_1_is_each_ones_payment(treasury: Treasury) -> None:
    wallets = [str(Keypair().pubkey()) for _ in range(20)]
    transfers = [treasury.transfer(wallet, AMOUNT + i) for i, wallet in enumerate(wallets)]
    signature = treasury.land_v1(transfers)
    treasury.cluster.finalize()
    assert treasury.cluster.rpc("getTransaction", signature, OPTIONS)["version"] == 1
    assert {check(signature, wallet, AMOUNT + i).recipient for i, wallet in enumerate(wallets)} == set(wallets)
    assert problem(signature, wallets[0], AMOUNT + 1)[0] == "wrong_amount"


def test_transfers_to_one_wallet_are_summed_up(treasury: Treasury, wallet: str) -> None:
    first = treasury.transfer(wallet, AMOUNT)
    signature = treasury.land([first, treasury.transfer(wallet, AMOUNT + 1)])
    treasury.cluster.finalize()
    assert problem(signature, wallet)[0] == "wrong_amount"
    check(signature, wallet, 2 * AMOUNT + 1)


def test_what_another_wallet_paid_in_the_same_transaction_is_not_taken_for_ours(
    treasury: Treasury, wallet: str
) -> None:
    stranger, other = treasury.cluster.create_wallet(), str(Keypair().pubkey())
    theirs = treasury.transfer(wallet, AMOUNT, sender=stranger)
    message = treasury.cluster.message(treasury.keypair.pubkey(), [treasury.transfer(other, AMOUNT), theirs])
    signature = str(treasury.cluster.send(VersionedTransaction(message, [treasury.keypair, stranger])).signature)
    treasury.cluster.finalize()
    code, sentence = problem(signature, wallet)
    assert (code, str(stranger.pubkey()) in sentence) == ("wrong_sender", True)


# --- whether it happened ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("cluster")
def test_an_unknown_signature_is_not_found(wallet: str) -> None:
    assert problem(str(Signature.new_unique()), wallet)[0] == "not_found"


def test_a_transaction_that_is_not_confirmed_is_not_found(treasury: Treasury, wallet: str) -> None:
    treasury.cluster.node.confirmed_after_slots = 2
    assert problem(treasury.send(wallet, AMOUNT), wallet)[0] == "not_found"


def test_a_transfer_that_failed_paid_nothing(treasury: Treasury, wallet: str) -> None:
    assert problem(treasury.pay(wallet, 10**18), wallet)[0] == "reverted"


def test_a_payment_counts_once_it_is_final(treasury: Treasury, wallet: str) -> None:
    signature = treasury.send(wallet, AMOUNT)
    assert problem(signature, wallet)[0] == "not_final"
    treasury.cluster.finalize()
    check(signature, wallet)


# --- what providers may show ------------------------------------------------------------------------------------------


@pytest.fixture
def liar(cluster: SolanaCluster) -> Iterator[FakeNode]:
    """A node that shows what the test says."""
    with ExitStack() as stack:
        yield stack.enter_context(fake_node.running(cluster.url))


def altered(change: Callable[[dict[str, Any]], object]) -> fake_node.Alter:
    """Change the transaction that a node shows."""

    def alter(method: str, _params: list[Any], result: Any) -> Any:
        if method == "getTransaction":
            change(result)
        return result

    return alter


def test_a_check_is_one_request_to_each_of_two_providers(
    treasury: Treasury, wallet: str, use_nodes: Nodes, round_trips: list[list[str]]
) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    pool = use_nodes(treasury.cluster.url, treasury.cluster.add_node(), treasury.cluster.add_node())
    expected = Expected(signature, str(treasury.cluster.usdc), (wallet,), AMOUNT)
    check_payment(expected, senders=(treasury.address,), pool=pool)
    assert round_trips == [["getGenesisHash", "getTransaction", "getSignatureStatuses"]] * 2


def spend_nothing(shown: dict[str, Any]) -> None:
    shown["meta"]["postTokenBalances"] = shown["meta"]["preTokenBalances"]


def fail(shown: dict[str, Any]) -> None:
    shown["meta"]["err"] = {"InstructionError": [0, {"Custom": 1}]}


def move(shown: dict[str, Any]) -> None:
    shown["slot"] += 1


@pytest.mark.parametrize("lie", [spend_nothing, fail, move])
def test_the_second_provider_must_show_the_same(
    treasury: Treasury,
    wallet: str,
    use_nodes: Nodes,
    liar: FakeNode,
    lie: Callable[[dict[str, Any]], object],
) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    liar.alter = altered(lie)
    use_nodes(treasury.cluster.url, liar.url)
    assert problem(signature, wallet)[0] == "providers_disagree"


def test_a_second_provider_that_does_not_know_the_transaction_delays_it(
    treasury: Treasury, wallet: str, use_nodes: Nodes
) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    use_nodes(treasury.cluster.url, treasury.cluster.add_node(lag_slots=40))
    assert problem(signature, wallet)[0] == "providers_disagree"


def test_a_second_provider_that_lags_delays_it(treasury: Treasury, wallet: str, use_nodes: Nodes) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    use_nodes(treasury.cluster.url, treasury.cluster.add_node(lag_slots=5))
    assert problem(signature, wallet)[0] == "not_final"


@pytest.mark.parametrize("status", [None, {"slot": 1, "confirmationStatus": "finalized"}, {"slot": 1}])
def test_a_status_of_another_slot_is_not_final(
    treasury: Treasury,
    wallet: str,
    use_nodes: Nodes,
    liar: FakeNode,
    status: dict[str, Any] | None,
) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    liar.alter = lambda method, _params, result: (
        {**CONTEXT, "value": [status]} if method == "getSignatureStatuses" else result
    )
    use_nodes(liar.url)
    assert problem(signature, wallet)[0] == "not_final"


def test_a_second_provider_that_is_down_delays_it(treasury: Treasury, wallet: str, use_nodes: Nodes) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    use_nodes(treasury.cluster.url, "http://127.0.0.1:1/secret-of-the-provider")
    code, sentence = problem(signature, wallet)
    assert (code, "secret" in sentence) == ("providers_disagree", False)


@pytest.mark.usefixtures("cluster")
def test_without_a_provider_nothing_is_concluded(wallet: str, use_nodes: Nodes) -> None:
    use_nodes("http://127.0.0.1:1/secret-of-the-provider")
    with pytest.raises(ChainUnavailableError):
        check(str(Signature.new_unique()), wallet)


def test_a_provider_without_history_does_not_count(treasury: Treasury, wallet: str, use_nodes: Nodes) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    without = treasury.cluster.add_node(keeps_history=False)
    use_nodes(without)
    with pytest.raises(ChainUnavailableError):
        check(signature, wallet)
    use_nodes(without, treasury.cluster.url, treasury.cluster.add_node())
    check(signature, wallet)


def balance(**change: Any) -> Callable[[dict[str, Any]], object]:
    """Change the first balance after the transaction."""
    return lambda shown: shown["meta"]["postTokenBalances"][0].update(change)


def show_another_transaction(shown: dict[str, Any]) -> None:
    transaction = bytearray(b64decode(shown["transaction"][0]))
    transaction[1] ^= 1  # in its first signature
    shown["transaction"][0] = b64encode(transaction).decode()


@pytest.mark.parametrize(
    "fault",
    [
        lambda shown: shown.update(slot=-1),
        lambda shown: shown.update(slot=2**40),
        lambda shown: shown.update(slot=True),
        lambda shown: shown.update(meta=None),
        lambda shown: shown["meta"].pop("err"),
        lambda shown: shown["meta"].update(postTokenBalances=None),
        lambda shown: shown.update(transaction=None),
        lambda shown: shown.update(transaction=["!", "base64"]),
        lambda shown: shown.update(transaction=["AA==", "base64"]),
        show_another_transaction,
        balance(owner=None),
        balance(owner="0" * 40),
        balance(mint="short"),
        balance(uiTokenAmount={"amount": "-1"}),
        balance(uiTokenAmount={"amount": "1.5"}),
        balance(uiTokenAmount={"amount": 5}),
        balance(uiTokenAmount={"amount": "9" * 21}),
        balance(uiTokenAmount="5"),
    ],
)
def test_a_provider_that_returns_nonsense_does_not_count(
    treasury: Treasury,
    wallet: str,
    use_nodes: Nodes,
    liar: FakeNode,
    fault: Callable[[dict[str, Any]], object],
) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    liar.alter = altered(fault)
    use_nodes(liar.url)
    with pytest.raises(ChainUnavailableError):
        check(signature, wallet)


@pytest.mark.parametrize("status", [[], None, ["x"], [{"slot": -1, "confirmationStatus": "finalized"}]])
def test_a_status_that_can_not_be_read_does_not_count(
    treasury: Treasury, wallet: str, use_nodes: Nodes, liar: FakeNode, status: object
) -> None:
    signature = treasury.pay(wallet, AMOUNT)
    liar.alter = lambda method, _params, result: (
        {**CONTEXT, "value": status} if method == "getSignatureStatuses" else result
    )
    use_nodes(liar.url)
    with pytest.raises(ChainUnavailableError):
        check(signature, wallet)
