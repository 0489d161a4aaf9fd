"""The local cluster behaves as a real one where sweeps depend on it: commitment, expiry, forks, lag and history."""

import base64
from typing import Any

import pytest
import requests
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from solders.transaction import VersionedTransaction
from spl.token.constants import TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID, WRAPPED_SOL_MINT
from spl.token.instructions import close_account, transfer_checked
from spl.token.models import CloseAccountParams, TransferCheckedParams

from dev.solana import extensions
from dev.solana.methods.sending import MAX_TRANSACTION_BYTES
from tests.solana_cluster import SolanaCluster

BASE64 = {"encoding": "base64"}
READ = {"encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": 0}
INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32600, -32601, -32602


@pytest.fixture
def wallet(cluster: SolanaCluster) -> Keypair:
    return cluster.create_wallet()


def pay(cluster: SolanaCluster, wallet: Keypair, *, reference: Pubkey | None = None) -> VersionedTransaction:
    """Sign a transfer of SOL to a new account."""
    to = transfer(TransferParams(from_pubkey=wallet.pubkey(), to_pubkey=Pubkey.new_unique(), lamports=10**7))
    if reference:
        metas = [*to.accounts, AccountMeta(reference, is_signer=False, is_writable=False)]
        to = Instruction(to.program_id, to.data, metas)
    return cluster.sign(wallet, [to])


def encoded(transaction: VersionedTransaction) -> str:
    return base64.b64encode(bytes(transaction)).decode()


def statuses(cluster: SolanaCluster, transaction: VersionedTransaction) -> list[Any]:
    return list(cluster.rpc("getSignatureStatuses", [str(transaction.signatures[0])])["value"])


def code(response: dict[str, Any]) -> int:
    return int(response["error"]["code"])


def test_a_transaction_is_confirmed_at_once_and_final_32_slots_later(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet)
    cluster.send(transaction)
    assert statuses(cluster, transaction)[0]["confirmationStatus"] == "confirmed"
    cluster.bank.advance(31)
    assert statuses(cluster, transaction)[0]["confirmationStatus"] == "confirmed"
    cluster.bank.advance(1)
    assert statuses(cluster, transaction)[0]["confirmationStatus"] == "finalized"


def test_history_at_a_commitment_shows_only_what_has_reached_it(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet, reference=(reference := Pubkey.new_unique()))
    signature = str(cluster.send(transaction).signature)

    def seen(commitment: str) -> tuple[int, bool]:
        listed = cluster.rpc("getSignaturesForAddress", str(reference), {"commitment": commitment})
        return len(listed), cluster.rpc("getTransaction", signature, {**READ, "commitment": commitment}) is not None

    assert seen("confirmed") == (1, True)
    assert seen("finalized") == (0, False)
    cluster.finalize()
    assert seen("finalized") == (1, True)


def test_history_is_not_read_below_confirmed(cluster: SolanaCluster) -> None:
    response = cluster.ask("getSignaturesForAddress", str(cluster.usdc), {"commitment": "processed"})
    assert code(response) == INVALID_PARAMS


def test_signatures_are_listed_newest_first_in_pages(cluster: SolanaCluster, wallet: Keypair) -> None:
    reference = Pubkey.new_unique()
    sent = [str(cluster.send(pay(cluster, wallet, reference=reference)).signature) for _ in range(5)]

    def listed(**options: Any) -> list[str]:
        found = cluster.rpc("getSignaturesForAddress", str(reference), {"commitment": "confirmed", **options})
        return [each["signature"] for each in found]

    assert listed() == sent[::-1]
    assert listed(limit=2) == sent[:2:-1]
    assert listed(limit=2, before=sent[3]) == [sent[2], sent[1]]
    assert listed(until=sent[1]) == sent[:1:-1]
    assert listed(before=str(pay(cluster, wallet).signatures[0])) == []


def test_a_blockhash_is_good_for_150_blocks(cluster: SolanaCluster, wallet: Keypair) -> None:
    first, second = pay(cluster, wallet), pay(cluster, wallet)
    cluster.bank.advance(149)
    assert cluster.bank.send(first).err is None
    assert cluster.bank.send(second).err == "BlockhashNotFound"


def test_skipped_slots_do_not_age_a_blockhash(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet)
    before = cluster.bank.blocks.latest
    cluster.bank.advance(1, skipped_slots=500)
    after = cluster.bank.blocks.latest
    assert (after.slot - before.slot, after.height - before.height) == (501, 1)
    skipped = cluster.ask("getBlock", after.slot - 1, {"transactionDetails": "none", "commitment": "confirmed"})
    assert code(skipped) == -32007
    assert cluster.bank.send(transaction).err is None


def test_a_transaction_with_an_unknown_blockhash_is_refused(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet)
    cluster.expire_blockhashes()
    response = cluster.ask("sendTransaction", encoded(transaction), BASE64)
    assert (code(response), response["error"]["data"]["err"]) == (-32002, "BlockhashNotFound")
    assert statuses(cluster, transaction) == [None]


def test_without_preflight_a_transaction_that_cannot_land_disappears(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet)
    cluster.expire_blockhashes()
    signature = cluster.rpc("sendTransaction", encoded(transaction), {**BASE64, "skipPreflight": True})
    assert signature == str(transaction.signatures[0])
    assert statuses(cluster, transaction) == [None]


def test_a_failed_transaction_lands_and_costs_its_fee(cluster: SolanaCluster, wallet: Keypair) -> None:
    source = cluster.faucet.create_account(wallet.pubkey(), cluster.usdc)
    move = TransferCheckedParams(
        program_id=TOKEN_PROGRAM_ID,
        source=source,
        mint=cluster.usdc,
        dest=cluster.faucet.associated_account(cluster.fee_wallet, cluster.usdc),
        owner=wallet.pubkey(),
        amount=1,
        decimals=6,
    )
    before = cluster.lamports(wallet.pubkey())
    landed = cluster.send(cluster.sign(wallet, [transfer_checked(move)]))
    meta = cluster.rpc("getTransaction", str(landed.signature), READ)["meta"]
    assert meta["err"] == {"InstructionError": [0, {"Custom": 1}]}
    assert before - cluster.lamports(wallet.pubkey()) == meta["fee"] == 5000


def test_the_token_balances_around_a_transaction_name_their_owners(cluster: SolanaCluster, wallet: Keypair) -> None:
    source = cluster.faucet.give_tokens(wallet.pubkey(), cluster.usdc, 1_500_000)
    target = cluster.faucet.associated_account(cluster.fee_wallet, cluster.usdc)
    table = cluster.faucet.create_lookup_table([target, cluster.usdc])
    move = TransferCheckedParams(
        program_id=TOKEN_PROGRAM_ID,
        source=source,
        mint=cluster.usdc,
        dest=target,
        owner=wallet.pubkey(),
        amount=1_500_000,
        decimals=6,
    )
    close = CloseAccountParams(program_id=TOKEN_PROGRAM_ID, account=source, dest=wallet.pubkey(), owner=wallet.pubkey())
    tables = [AddressLookupTableAccount(table, [target, cluster.usdc])]
    landed = cluster.send(cluster.sign(wallet, [transfer_checked(move), close_account(close)], tables))
    read = cluster.rpc("getTransaction", str(landed.signature), READ)
    assert (read["version"], read["meta"]["err"]) == (0, None)
    assert read["meta"]["loadedAddresses"] == {"writable": [str(target)], "readonly": [str(cluster.usdc)]}

    def shown(which: str) -> list[tuple[str, str, str]]:
        balances = read["meta"][which]
        return [(each["owner"], each["mint"], each["uiTokenAmount"]["uiAmountString"]) for each in balances]

    mint = str(cluster.usdc)
    before = [(str(wallet.pubkey()), mint, "1.5"), (str(cluster.fee_wallet), mint, "0")]
    assert shown("preTokenBalances") == before
    assert shown("postTokenBalances") == [(str(cluster.fee_wallet), mint, "1.5")]
    assert read["meta"]["postTokenBalances"][0]["accountIndex"] == len(landed.keys.static)
    assert cluster.rpc("getAccountInfo", str(source), BASE64)["value"] is None


def test_a_v0_transaction_is_shown_only_to_clients_that_know_its_version(
    cluster: SolanaCluster, wallet: Keypair
) -> None:
    signature = str(cluster.send(pay(cluster, wallet)).signature)
    assert code(cluster.ask("getTransaction", signature, {**BASE64, "commitment": "confirmed"})) == -32015


def test_a_v1_transaction_lands_and_is_shown_to_clients_that_know_its_version(
    cluster: SolanaCluster, wallet: Keypair
) -> None:
    heirs = [Pubkey.new_unique() for _ in range(40)]
    paid = [transfer(TransferParams(from_pubkey=wallet.pubkey(), to_pubkey=heir, lamports=10**7)) for heir in heirs]
    signed = cluster.sign_v1(wallet, paid)
    assert len(bytes(signed)) > MAX_TRANSACTION_BYTES, "too large for a v0 transaction"
    signature = cluster.rpc("sendTransaction", encoded(signed), BASE64 | {"preflightCommitment": "confirmed"})
    assert code(cluster.ask("getTransaction", signature, READ)) == -32015
    read = cluster.rpc("getTransaction", signature, READ | {"maxSupportedTransactionVersion": 1})
    assert (read["version"], read["meta"]["err"]) == (1, None)
    assert base64.b64decode(read["transaction"][0]) == bytes(signed)
    assert [cluster.lamports(heir) for heir in heirs] == [10**7] * 40


def test_a_transaction_lands_only_once(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet)
    cluster.send(transaction)
    response = cluster.ask("sendTransaction", encoded(transaction), BASE64)
    assert response["error"]["data"]["err"] == "AlreadyProcessed"


def test_a_dropped_transaction_is_unknown_until_it_is_sent_again(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet, reference=(reference := Pubkey.new_unique()))
    first_slot = cluster.send(transaction).block.slot
    cluster.rpc("dev_dropTransaction", str(transaction.signatures[0]))
    assert statuses(cluster, transaction) == [None]
    assert cluster.rpc("getTransaction", str(transaction.signatures[0]), READ) is None
    assert cluster.rpc("getSignaturesForAddress", str(reference), {"commitment": "confirmed"}) == []
    cluster.rpc("sendTransaction", encoded(transaction), BASE64)
    assert statuses(cluster, transaction)[0]["slot"] > first_slot


def test_a_lagging_node_does_not_see_the_latest_blocks(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet)
    cluster.send(transaction)
    cluster.node.lag_slots = 10
    latest = cluster.bank.blocks.latest.slot
    assert cluster.rpc("getSlot", {"commitment": "confirmed"}) == latest - 10
    assert statuses(cluster, transaction) == [None]
    options = {"commitment": "confirmed", "minContextSlot": latest}
    response = cluster.ask("getSignaturesForAddress", str(wallet.pubkey()), options)
    assert (code(response), response["error"]["data"]) == (-32016, {"contextSlot": latest - 10})
    cluster.bank.advance(10)
    assert statuses(cluster, transaction)[0]["confirmationStatus"] == "confirmed"


def test_a_node_without_history_refuses_to_read_it(cluster: SolanaCluster, wallet: Keypair) -> None:
    signature = str(cluster.send(pay(cluster, wallet)).signature)
    cluster.node.keeps_history = False
    assert code(cluster.ask("getTransaction", signature, READ)) == -32011
    assert code(cluster.ask("getSignaturesForAddress", str(wallet.pubkey()))) == -32011
    assert code(cluster.ask("getSignatureStatuses", [signature], {"searchTransactionHistory": True})) == -32011
    assert cluster.rpc("getSignatureStatuses", [signature])["value"][0] is not None


def test_statuses_of_old_transactions_need_a_search_of_history(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet)
    signature = str(cluster.send(transaction).signature)
    cluster.expire_blockhashes()
    assert statuses(cluster, transaction) == [None]
    found = cluster.rpc("getSignatureStatuses", [signature], {"searchTransactionHistory": True})["value"]
    assert found[0]["confirmationStatus"] == "finalized"


def test_a_node_that_started_later_lacks_earlier_transactions(cluster: SolanaCluster, wallet: Keypair) -> None:
    signature = str(cluster.send(pay(cluster, wallet)).signature)
    cluster.finalize()
    cluster.node.first_available_slot = cluster.bank.blocks.latest.slot
    assert cluster.rpc("getFirstAvailableBlock") == cluster.bank.blocks.latest.slot
    assert cluster.rpc("getTransaction", signature, READ) is None
    assert cluster.rpc("getSignaturesForAddress", str(wallet.pubkey())) == []


def test_nodes_of_one_cluster_differ_only_in_their_view(cluster: SolanaCluster, wallet: Keypair) -> None:
    url = cluster.add_node(lag_slots=5)
    cluster.send(pay(cluster, wallet))
    body = {"jsonrpc": "2.0", "id": 7, "method": "getSlot", "params": [{"commitment": "confirmed"}]}
    assert requests.post(url, json=body, timeout=10).json()["result"] == cluster.bank.blocks.latest.slot - 5
    assert cluster.rpc("getSlot", {"commitment": "confirmed"}) == cluster.bank.blocks.latest.slot


def test_a_simulation_needs_signatures_only_if_asked_to_verify_them(cluster: SolanaCluster, wallet: Keypair) -> None:
    unsigned = VersionedTransaction.populate(pay(cluster, wallet).message, [Keypair().sign_message(b"another")])
    assert cluster.rpc("simulateTransaction", encoded(unsigned), BASE64)["value"]["err"] is None
    assert code(cluster.ask("simulateTransaction", encoded(unsigned), {**BASE64, "sigVerify": True})) == -32003
    assert code(cluster.ask("sendTransaction", encoded(unsigned), BASE64)) == -32003
    assert statuses(cluster, unsigned) == [None]


def test_a_simulation_can_replace_the_blockhash(cluster: SolanaCluster, wallet: Keypair) -> None:
    transaction = pay(cluster, wallet)
    cluster.expire_blockhashes()
    kept = cluster.rpc("simulateTransaction", encoded(transaction), BASE64)["value"]
    assert kept["err"] == "BlockhashNotFound"
    replaced = cluster.rpc("simulateTransaction", encoded(transaction), {**BASE64, "replaceRecentBlockhash": True})
    assert replaced["value"]["err"] is None


def test_a_message_with_an_unknown_lookup_table_is_invalid(cluster: SolanaCluster, wallet: Keypair) -> None:
    recipient = Pubkey.new_unique()
    to = transfer(TransferParams(from_pubkey=wallet.pubkey(), to_pubkey=recipient, lamports=10**7))
    transaction = cluster.sign(wallet, [to], [AddressLookupTableAccount(Pubkey.new_unique(), [recipient])])
    assert code(cluster.ask("simulateTransaction", encoded(transaction), BASE64)) == INVALID_PARAMS


def test_a_token_2022_mint_withholds_its_transfer_fee(cluster: SolanaCluster, wallet: Keypair) -> None:
    faucet = cluster.faucet
    taxed = faucet.create_mint(6, program=TOKEN_2022_PROGRAM_ID, extensions=[extensions.transfer_fee(100)])
    source = faucet.give_tokens(wallet.pubkey(), taxed, 1000)
    target = faucet.create_account(cluster.fee_wallet, taxed)
    move = TransferCheckedParams(
        program_id=TOKEN_2022_PROGRAM_ID,
        source=source,
        mint=taxed,
        dest=target,
        owner=wallet.pubkey(),
        amount=1000,
        decimals=6,
    )
    assert cluster.send(cluster.sign(wallet, [transfer_checked(move)])).outcome.err is None
    assert cluster.token_balance(cluster.fee_wallet, taxed) == 990


@pytest.mark.parametrize(
    "extension",
    [
        extensions.non_transferable(),
        extensions.transfer_hook(Pubkey.new_unique()),
        extensions.permanent_delegate(Pubkey.new_unique()),
    ],
    ids=["non-transferable", "hook", "permanent delegate"],
)
def test_mints_with_any_extension_can_be_given(
    cluster: SolanaCluster, wallet: Keypair, extension: extensions.Extension
) -> None:
    mint = cluster.faucet.create_mint(9, program=TOKEN_2022_PROGRAM_ID, extensions=[extension])
    cluster.faucet.give_tokens(wallet.pubkey(), mint, 10**9)
    assert cluster.token_balance(wallet.pubkey(), mint) == 10**9


def test_accounts_of_a_mint_that_freezes_by_default_start_frozen(cluster: SolanaCluster, wallet: Keypair) -> None:
    frozen = [extensions.frozen_by_default()]
    mint = cluster.faucet.create_mint(9, program=TOKEN_2022_PROGRAM_ID, extensions=frozen)
    account = cluster.bank.account(cluster.faucet.create_account(wallet.pubkey(), mint))
    assert account is not None
    assert account.data[108] == 2


def test_a_mint_can_hold_its_own_name(cluster: SolanaCluster) -> None:
    named = [extensions.metadata_pointer(), extensions.metadata("Dog", "DOG")]
    mint = cluster.bank.account(cluster.faucet.create_mint(9, program=TOKEN_2022_PROGRAM_ID, extensions=named))
    assert mint is not None
    assert b"\x03\0\0\0Dog\x03\0\0\0DOG" in mint.data
    assert mint.lamports == cluster.bank.svm.minimum_balance_for_rent_exemption(len(mint.data))


@pytest.mark.parametrize(("slot_seconds", "slots"), [(0.21, 286), (0.4, 150)])
def test_the_slots_of_a_minute_are_those_of_its_slot_time(
    cluster: SolanaCluster, slot_seconds: float, slots: int
) -> None:
    cluster.bank.slot_seconds = slot_seconds
    newest, older = cluster.rpc("getRecentPerformanceSamples", 2)
    assert (newest["numSlots"], newest["samplePeriodSecs"]) == (slots, 60)
    assert newest["slot"] - older["slot"] == slots
    assert code(cluster.ask("getRecentPerformanceSamples", 721)) == INVALID_PARAMS


def test_rent_falls_for_new_accounts_only(cluster: SolanaCluster, wallet: Keypair) -> None:
    before = cluster.rpc("getMinimumBalanceForRentExemption", 165)
    old = cluster.faucet.create_account(wallet.pubkey(), cluster.usdc)
    cluster.set_rent(lamports_per_byte=5080)
    assert cluster.rpc("getMinimumBalanceForRentExemption", 165) == 1_488_440
    new = cluster.faucet.create_account(wallet.pubkey(), WRAPPED_SOL_MINT)
    assert (cluster.lamports(old), cluster.lamports(new)) == (before, 1_488_440)


def test_wrapped_sol_is_given_as_lamports(cluster: SolanaCluster, wallet: Keypair) -> None:
    account = cluster.faucet.give_tokens(wallet.pubkey(), WRAPPED_SOL_MINT, 10**9)
    assert cluster.token_balance(wallet.pubkey(), WRAPPED_SOL_MINT) == 10**9
    assert cluster.lamports(account) == 10**9 + cluster.bank.svm.minimum_balance_for_rent_exemption(165)


def test_a_batch_is_answered_call_by_call(cluster: SolanaCluster) -> None:
    calls = [("getGenesisHash", []), ("noSuchMethod", []), ("getAccountInfo", ["no key"])]
    batch = [{"jsonrpc": "2.0", "id": i, "method": name, "params": given} for i, (name, given) in enumerate(calls)]
    answers = requests.post(cluster.url, json=batch, timeout=10).json()
    assert [answer["id"] for answer in answers] == [0, 1, 2]
    assert answers[0]["result"] == cluster.genesis_hash
    assert [code(answer) for answer in answers[1:]] == [METHOD_NOT_FOUND, INVALID_PARAMS]


@pytest.mark.parametrize(
    ("body", "expected"),
    [(b"{", -32700), (b"[]", INVALID_REQUEST), (b"5", INVALID_REQUEST), (b'{"method":"getSlot"}', INVALID_REQUEST)],
)
def test_a_malformed_request_is_refused(cluster: SolanaCluster, body: bytes, expected: int) -> None:
    assert code(requests.post(cluster.url, data=body, timeout=10).json()) == expected


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("getAccountInfo", []),
        ("getAccountInfo", [5]),
        ("getMinimumBalanceForRentExemption", [-1]),
        ("getMinimumBalanceForRentExemption", [True]),
        ("getSlot", [{"commitment": "soon"}]),
        ("getSlot", [{"comitment": "confirmed"}]),
        ("getSlot", [{}, {}]),
        ("getMultipleAccounts", [[str(TOKEN_PROGRAM_ID)] * 101, BASE64]),
        ("getTokenAccountsByOwner", [str(TOKEN_PROGRAM_ID), {}, BASE64]),
        ("getTokenAccountsByOwner", [str(TOKEN_PROGRAM_ID), {"mint": str(TOKEN_PROGRAM_ID)}, BASE64]),
        ("getTokenAccountsByOwner", [str(TOKEN_PROGRAM_ID), {"programId": str(WRAPPED_SOL_MINT)}, BASE64]),
        ("getSignaturesForAddress", [str(TOKEN_PROGRAM_ID), {"limit": 1001}]),
        ("getSignatureStatuses", [["short"]]),
        ("sendTransaction", ["AAAA", BASE64]),
        ("sendTransaction", ["not base64!", BASE64]),
        ("sendTransaction", [base64.b64encode(bytes(1233)).decode(), BASE64]),
        ("simulateTransaction", ["AAAA", {**BASE64, "sigVerify": True, "replaceRecentBlockhash": True}]),
    ],
)
def test_wrong_parameters_are_refused(cluster: SolanaCluster, method: str, params: list[Any]) -> None:
    assert code(cluster.ask(method, *params)) == INVALID_PARAMS
