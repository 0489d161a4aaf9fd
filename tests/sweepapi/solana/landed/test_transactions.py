"""A landed transaction is decoded, and whatever a cluster can't have executed is refused."""

import base64
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.compute_budget import set_compute_unit_limit
from solders.keypair import Keypair
from solders.message import MessageV0
from solders.system_program import TransferParams, transfer
from solders.transaction import VersionedTransaction
from spl.token import instructions as token
from spl.token import models
from spl.token.constants import TOKEN_PROGRAM_ID

from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.landed.reading import MAX_ERROR_CHARACTERS, landed_of
from sweepapi.solana.landed.transactions import Landed
from sweepapi.solana.packing.packing import MAX_BYTES
from tests.solana_cluster import SolanaCluster, running

OPTIONS = {"encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": 1}
SOL, TOKENS = 7, 40  # what the user gives the fee wallet

Answer = dict[str, Any]
Change = Callable[[Answer], object]


@pytest.fixture(scope="module")
def local() -> Iterator[SolanaCluster]:
    with running() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def user(local: SolanaCluster) -> Keypair:
    return local.create_wallet()


@pytest.fixture(scope="module")
def answered(local: SolanaCluster, user: Keypair) -> Answer:
    """What a node answers about a transfer of SOL to an account that is looked up, and one of tokens."""
    source = local.faucet.give_tokens(user.pubkey(), local.usdc, 100)
    fee_account = local.faucet.associated_account(local.fee_wallet, local.usdc)
    looked_up = [local.fee_wallet, fee_account]
    table = AddressLookupTableAccount(local.faucet.create_lookup_table(looked_up), looked_up)
    sol = TransferParams(from_pubkey=user.pubkey(), to_pubkey=local.fee_wallet, lamports=SOL)
    tokens = models.TransferParams(
        program_id=TOKEN_PROGRAM_ID, source=source, dest=fee_account, owner=user.pubkey(), amount=TOKENS
    )
    instructions = [set_compute_unit_limit(100_000), transfer(sol), token.transfer(tokens)]
    landed = local.send(local.sign(user, instructions, [table]))
    answer: Answer = local.rpc("getTransaction", str(landed.signature), OPTIONS)
    assert set(answer["meta"]["loadedAddresses"]["writable"]) == set(map(str, looked_up))
    return answer


def decode(answer: Answer, signature: str | None = None) -> Landed | None:
    raw = base64.b64decode(answer["transaction"][0])
    return landed_of(signature or str(VersionedTransaction.from_bytes(raw).signatures[0]))(answer)


def test_instructions_are_looked_up_and_changes_are_added_up(
    answered: Answer, local: SolanaCluster, user: Keypair
) -> None:
    landed = decode(answered)
    assert landed is not None
    assert [one.program for one in landed.instructions] == ["1" * 32, str(TOKEN_PROGRAM_ID)]
    assert landed.instructions[0].accounts == (str(user.pubkey()), str(local.fee_wallet))
    fee_account = str(local.faucet.associated_account(local.fee_wallet, local.usdc))
    assert landed.account_gain(fee_account, str(local.usdc)) == TOKENS
    assert landed.token_gain(str(user.pubkey()), str(local.usdc)) == -TOKENS
    assert landed.lamports_gain(str(user.pubkey())) == -SOL, "without the fee of the transaction"
    assert landed.lamports_gain(str(local.fee_wallet)) == SOL
    assert (landed.payer, landed.error) == (str(user.pubkey()), "")


@pytest.fixture(scope="module")
def answered_v1(local: SolanaCluster, user: Keypair) -> Answer:
    """What a node answers about a transaction of version 1, which is too large for version 0."""
    heirs = [local.create_wallet().pubkey() for _ in range(40)]
    transfers = [TransferParams(from_pubkey=user.pubkey(), to_pubkey=heir, lamports=SOL) for heir in heirs]
    signed = local.sign_v1(user, [set_compute_unit_limit(100_000), *map(transfer, transfers)])
    assert len(bytes(signed)) > MAX_BYTES
    answer: Answer = local.rpc("getTransaction", str(local.send(signed).signature), OPTIONS)
    return answer


def test_a_transaction_of_version_1_is_read_like_any_other(answered_v1: Answer, user: Keypair) -> None:
    landed = decode(answered_v1)
    assert landed is not None
    assert [one.program for one in landed.instructions] == ["1" * 32] * 40
    assert {one.accounts[0] for one in landed.instructions} == {str(user.pubkey())}
    assert landed.lamports_gain(str(user.pubkey())) == -40 * SOL


@pytest.mark.parametrize("behind", [b"\0", bytes(64)])
def test_bytes_behind_the_signatures_of_version_1_are_refused(answered_v1: Answer, behind: bytes) -> None:
    more = base64.b64encode(base64.b64decode(answered_v1["transaction"][0]) + behind).decode()
    with pytest.raises(BadResponseError, match="canonical"):
        decode_as(answered_v1, {**answered_v1, "transaction": [more, "base64"]})


def test_a_transaction_of_version_1_that_its_signer_did_not_sign_is_refused(answered_v1: Answer) -> None:
    raw = bytearray(base64.b64decode(answered_v1["transaction"][0]))
    raw[6] ^= 1  # of its compute budget
    with pytest.raises(BadResponseError):
        decode_as(answered_v1, {**answered_v1, "transaction": [base64.b64encode(raw).decode(), "base64"]})


def test_a_transaction_of_version_1_has_no_looked_up_addresses(answered_v1: Answer) -> None:
    answer = deepcopy(answered_v1)
    _loaded(answer)["readonly"].append("1" * 32)
    with pytest.raises(BadResponseError, match="loaded addresses"):
        decode(answer)
    assert decode({**answer, "meta": answer["meta"] | {"loadedAddresses": None}}) == decode(answered_v1)


def test_what_the_node_does_not_have_is_nothing() -> None:
    assert landed_of("5" * 88)(None) is None


def _token(answer: Answer) -> Answer:
    balance: Answer = answer["meta"]["postTokenBalances"][0]
    return balance


def _loaded(answer: Answer) -> dict[str, list[str]]:
    loaded: dict[str, list[str]] = answer["meta"]["loadedAddresses"]
    return loaded


CONTRADICTIONS: dict[str, Change] = {
    "no slot": lambda answer: answer.pop("slot"),
    "a negative slot": lambda answer: answer.update(slot=-1),
    "a slot that is a truth value": lambda answer: answer.update(slot=True),
    "no meta": lambda answer: answer.update(meta=None),
    "no outcome": lambda answer: answer["meta"].pop("err"),
    "no fee": lambda answer: answer["meta"].pop("fee"),
    "another fee": lambda answer: answer["meta"].update(fee=answer["meta"]["fee"] + 1),
    "a fee in words": lambda answer: answer["meta"].update(fee="5000"),
    "a transaction in base58": lambda answer: answer["transaction"].__setitem__(1, "base58"),
    "a transaction that is not base64": lambda answer: answer["transaction"].__setitem__(0, "?"),
    "bytes behind the transaction": lambda answer: answer["transaction"].__setitem__(
        0, base64.b64encode(base64.b64decode(answer["transaction"][0]) + b"\0").decode()
    ),
    "an account less": lambda answer: answer["meta"]["preBalances"].pop(),
    "an account more": lambda answer: answer["meta"]["postBalances"].append(0),
    "a negative balance": lambda answer: answer["meta"]["preBalances"].__setitem__(0, -1),
    "lamports from nowhere": lambda answer: answer["meta"]["postBalances"].__setitem__(0, 10**12),
    "an address less": lambda answer: _loaded(answer)["writable"].pop(),
    "an address more": lambda answer: _loaded(answer)["readonly"].append("1" * 32),
    "an address twice": lambda answer: _loaded(answer)["writable"].__setitem__(1, _loaded(answer)["writable"][0]),
    "an address that is not a key": lambda answer: _loaded(answer)["writable"].__setitem__(0, "0"),
    "no addresses": lambda answer: answer["meta"].pop("loadedAddresses"),
    "a token balance of no account": lambda answer: _token(answer).update(accountIndex=99),
    "a second token balance": lambda answer: answer["meta"]["postTokenBalances"].append(_token(answer)),
    "a token balance without an owner": lambda answer: _token(answer).pop("owner"),
    "a token amount below zero": lambda answer: _token(answer)["uiTokenAmount"].update(amount="-1"),
    "a token amount above 64 bits": lambda answer: _token(answer)["uiTokenAmount"].update(amount=str(2**64)),
    "a token amount that is a number": lambda answer: _token(answer)["uiTokenAmount"].update(amount=1),
    "no token balances": lambda answer: answer["meta"].update(postTokenBalances=None),
}


@pytest.mark.parametrize("contradict", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_contradiction_is_refused(answered: Answer, contradict: Change) -> None:
    answer = deepcopy(answered)
    contradict(answer)
    with pytest.raises(BadResponseError):
        decode_as(answered, answer)


def decode_as(answered: Answer, answer: Answer) -> Landed | None:
    """Decode an answer as one about the transaction of another answer."""
    raw = base64.b64decode(answered["transaction"][0])
    return landed_of(str(VersionedTransaction.from_bytes(raw).signatures[0]))(answer)


def test_another_transaction_is_refused(answered: Answer) -> None:
    with pytest.raises(BadResponseError, match="another one"):
        decode(answered, "5" * 88)


def test_a_transaction_that_its_signer_did_not_sign_is_refused(answered: Answer) -> None:
    signed = VersionedTransaction.from_bytes(base64.b64decode(answered["transaction"][0]))
    message = signed.message
    assert isinstance(message, MessageV0)
    other = MessageV0(
        message.header,
        message.account_keys,
        message.recent_blockhash,
        message.instructions[:-1],
        message.address_table_lookups,
    )
    forged = bytes(VersionedTransaction.populate(other, signed.signatures))
    answer = {**answered, "transaction": [base64.b64encode(forged).decode(), "base64"]}
    with pytest.raises(BadResponseError, match="not signed"):
        decode(answer)


@pytest.mark.parametrize(
    ("logs", "error"),
    [
        (["Program log: Instruction: Swap", "Program log: Error: insufficient funds"], "Error: insufficient funds"),
        (["Program abc failed: custom program error: 0x1"], "Program abc failed: custom program error: 0x1"),
        (["Program log: Error: \x1b[2J\u202e" + "x" * 500], "Error: [2J" + "x" * (MAX_ERROR_CHARACTERS - 10)),
        (None, "{'InstructionError': [1, {'Custom': 1}]}"),
        ([7], "{'InstructionError': [1, {'Custom': 1}]}"),
    ],
)
def test_a_failure_is_explained_in_one_printable_line(answered: Answer, logs: list[Any] | None, error: str) -> None:
    answer = deepcopy(answered)
    answer["meta"] |= {"err": {"InstructionError": [1, {"Custom": 1}]}, "logMessages": logs}
    landed = decode(answer)
    assert landed is not None
    assert landed.error == error
