"""What an account is follows from its code, and whether that checks signatures from how it answers."""

import pytest

from sweepapi import networks
from sweepapi.evm.wallet import accounts
from sweepapi.evm.wallet.accounts import AccountCode, checks_of, delegate_of, kind_of, signature_probe
from tests.factories.sweeps import LOCAL
from tests.local_chain import LocalChain
from tests.wallets import code_at, delegate, deployed

IMPLEMENTATION = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
DELEGATION = bytes.fromhex(f"ef0100{IMPLEMENTATION[2:]}")
ACCOUNT = "0x" + "ac" * 20

STOPS = "00"
REVERTS = "60006000fd"
REVERTS_WITH_A_WORD = "602a60005260206000fd"
RETURNS_ONE = "600160005260206000f3"
BURNS_ALL_GAS = "5b600056"
# Reads the first four bytes of the call, and goes on to the code that follows if they ask about a signature.
IF_ASKED = "60003560e01c631626ba7e14601157" + STOPS + STOPS + "5b"
RETURNS_THE_MAGIC_VALUE = "631626ba7e60e01b60005260206000f3"


@pytest.mark.parametrize(
    ("code", "kind", "implementation"),
    [
        (b"", AccountCode.NONE, None),
        (DELEGATION, AccountCode.DELEGATED, IMPLEMENTATION),
        (DELEGATION + b"\x00", AccountCode.CONTRACT, None),
        (DELEGATION[:-1], AccountCode.CONTRACT, None),
        (b"\xef\x01\x01" + bytes(20), AccountCode.CONTRACT, None),
        (b"\x00", AccountCode.CONTRACT, None),
    ],
)
def test_a_delegation_is_23_bytes_with_its_prefix(code: bytes, kind: AccountCode, implementation: str | None) -> None:
    assert (kind_of(code), delegate_of(code)) == (kind, implementation)


def answer_of(chain: LocalChain, account: str) -> bool | None:
    pool = networks.current().pool(LOCAL)
    (probed,) = pool.batch([signature_probe(account=account, multicall3=chain.contracts["multicall3"])])
    return checks_of(probed).answers_eip1271


@pytest.mark.parametrize(
    ("code", "answers"),
    [
        (STOPS, False),
        (REVERTS, False),
        (REVERTS_WITH_A_WORD, False),
        (RETURNS_ONE, False),
        (BURNS_ALL_GAS, None),
        (IF_ASKED + RETURNS_THE_MAGIC_VALUE, True),
        (IF_ASKED + RETURNS_ONE, None),
        (IF_ASKED + REVERTS_WITH_A_WORD, None),
        (IF_ASKED + REVERTS, None),
        (IF_ASKED + STOPS, False),
    ],
)
def test_code_that_treats_the_question_like_any_other_call_checks_no_signatures(
    chain: LocalChain, code: str, *, answers: bool | None
) -> None:
    assert answer_of(chain, chain.put_code(ACCOUNT, code)) is answers


@pytest.mark.parametrize(("contract", "answers"), [("BatchAccount", False), ("SigningBatchAccount", True)])
def test_a_delegated_account_answers_like_the_contract_itself(
    chain: LocalChain, contract: str, *, answers: bool
) -> None:
    implementation = deployed(chain, contract)
    delegate(chain, chain.users[0], implementation)
    assert delegate_of(bytes.fromhex(code_at(chain, chain.users[0].address))) == implementation
    assert answer_of(chain, implementation) is answer_of(chain, chain.users[0].address) is answers


@pytest.mark.parametrize(
    ("contract", "nests"), [("BatchAccount", False), ("SigningBatchAccount", False), ("NestingBatchAccount", True)]
)
def test_accounts_announce_that_they_nest_typed_data(chain: LocalChain, contract: str, *, nests: bool) -> None:
    probe = signature_probe(account=deployed(chain, contract), multicall3=chain.contracts["multicall3"])
    (probed,) = networks.current().pool(LOCAL).batch([probe])
    assert checks_of(probed).nests_typed_data is nests


def test_the_signature_that_is_asked_about_recovers_to_an_address(chain: LocalChain) -> None:
    r, s, v = accounts.PROBED_SIGNATURE[:32], accounts.PROBED_SIGNATURE[32:64], accounts.PROBED_SIGNATURE[64]
    data = accounts.PROBED_HASH + v.to_bytes(32, "big") + r + s
    recovered = chain.rpc("eth_call", {"to": f"0x{1:040x}", "data": f"0x{data.hex()}"}, "latest")
    assert int(recovered, 16) > 0
