"""What an account with code signs is good if its code says so, in any form; what counts is its code now."""

from typing import Any

import pytest
from eth_typing import Hash32
from eth_utils.crypto import keccak

from sweeps.rails.evm.finalize.verifying import CHECK_GAS_LIMIT
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain
from tests.partner_app import PartnerApp, only_v5
from tests.scenarios.wallets import ContractWallet, call_of
from tests.sweeps.finalize.wallet_signatures import (
    compact,
    digest_of,
    finalize,
    high_s,
    nested,
    post,
    problems,
    send,
    sign,
    signatures_of,
    wrapped,
)
from tests.wallets import delegate, deployed

pytestmark = pytest.mark.django_db

RETURNS_ONE = "600160005260206000f3"
BURNS_ALL_GAS = "5b600056"
# Accepts any signature if the gas price is zero, and none otherwise.
ACCEPTS_IN_CALLS = "3a601557" + "631626ba7e60e01b60005260206000f3" + "00" + "5b60006000fd"


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


@pytest.fixture
def wallet(app: PartnerApp) -> ContractWallet:
    """A contract wallet of the user, with tokens."""
    wallet = ContractWallet.deploy(app.chain, app.user)
    wallet.fund(app.chain, app.chain.token("USDC"), 5)
    return wallet


def approved(app: PartnerApp, wallet: ContractWallet) -> dict[str, Any]:
    """Build a sweep of a contract wallet, and have it send the approvals."""
    built = app.build({"USDC": 3}, wallet=wallet.address)
    approvals = wallet.calls_of(built)[:-1]
    assert app.chain.receipt(app.chain.send(app.user, call_of(wallet.through(approvals))))["status"] == 1
    return built


def as_is(signature: bytes) -> bytes:
    return signature


def v_from_zero(signature: bytes) -> bytes:
    return signature[:64] + bytes([signature[64] - 27])


@pytest.mark.parametrize("spelled", [as_is, v_from_zero, high_s, compact, wrapped])
def test_a_contract_wallet_takes_its_owners_signature_in_every_spelling(
    app: PartnerApp, wallet: ContractWallet, spelled: Any
) -> None:
    built = approved(app, wallet)
    answer = finalize(app, built, [f"0x{spelled(sign(app.user, built['permit2'])).hex()}"])
    assert answer["wallet"] == {"code": "contract", "delegate": None}
    transaction = answer["transaction"]
    assert transaction["from"] == wallet.address
    call = wallet.through([(transaction["to"], bytes.fromhex(transaction["data"][2:]))])
    assert app.confirm(built, app.chain.send(app.user, call_of(call)))["status"] == "completed"


def test_a_wallet_of_wallets_is_asked_like_any_other(app: PartnerApp) -> None:
    inner = ContractWallet.deploy(app.chain, app.user)
    outer = ContractWallet.deploy(app.chain, app.user, owner=inner.address)
    outer.fund(app.chain, app.chain.token("USDC"), 5)
    built = app.build({"USDC": 3}, wallet=outer.address)
    approvals = outer.through(outer.calls_of(built)[:-1])
    assert app.chain.receipt(app.chain.send(app.user, call_of(inner.through([approvals]))))["status"] == 1
    assert finalize(app, built, signatures_of(app.user, built))["wallet"]["code"] == "contract"


def test_a_contract_wallet_refuses_what_its_owner_did_not_sign(app: PartnerApp, wallet: ContractWallet) -> None:
    built = approved(app, wallet)
    other = app.chain.users[1]
    found = problems(post(app, built, [f"0x{sign(other, built['permit2']).hex()}"]))
    assert set(found) == {("signatures[0]", "refused_by_account"), ("signatures[0]", "recovered_address")}
    assert found["signatures[0]", "recovered_address"] == other.address
    assert problems(post(app, built, [f"0x{wrapped(sign(other, built['permit2'])).hex()}"])) == found
    assert set(problems(post(app, built, ["0x"]))) == {("signatures[0]", "refused_by_account")}
    assert set(problems(post(app, built, ["0x" + "ab" * 16_384]))) == {("signatures[0]", "refused_by_account")}


@pytest.mark.parametrize("code", [RETURNS_ONE, BURNS_ALL_GAS, "00", "60006000fd"])
def test_only_the_magic_value_is_a_yes(app: PartnerApp, code: str) -> None:
    built = app.build()
    app.chain.put_code(app.user.address, code)
    assert ("signatures[0]", "refused_by_account") in problems(post(app, built, signatures_of(app.user, built)))


def test_a_wrapped_signature_needs_an_account_that_is_deployed(app: PartnerApp) -> None:
    built = app.build()
    found = problems(post(app, built, [f"0x{wrapped(sign(app.user, built['permit2'])).hex()}"]))
    assert "`calls`" in found["signatures[0]", "not_deployed"]


def test_a_key_that_came_to_delegate_to_code_without_signatures_is_refused(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    signatures = signatures_of(app.user, built)
    implementation = deployed(app.chain, "BatchAccount")
    delegate(app.chain, app.user, implementation)
    found = problems(post(app, built, signatures))
    assert implementation in found["signatures[0]", "refused_by_account"]
    assert found["signatures[0]", "recovered_address"] == app.user.address
    assert ("signatures[0]", "signed_instead") not in found


def test_a_key_that_came_to_delegate_to_code_with_signatures_is_asked_by_it(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    implementation = deployed(app.chain, "SigningBatchAccount")
    delegate(app.chain, app.user, implementation)
    signature = v_from_zero(sign(app.user, built["permit2"]))
    answer = finalize(app, built, [signature.hex()])
    assert answer["wallet"] == {"code": "delegated", "delegate": implementation}
    assert send(app, built, answer)["status"] == "completed"


def test_an_account_that_stopped_to_delegate_signs_with_its_key(app: PartnerApp) -> None:
    delegate(app.chain, app.user, deployed(app.chain, "SigningBatchAccount"))
    built = app.build()
    app.approve(built)
    app.chain.put_code(app.user.address, "")
    answer = finalize(app, built, signatures_of(app.user, built))
    assert answer["wallet"] == {"code": "none", "delegate": None}
    assert send(app, built, answer)["status"] == "completed"


def test_code_that_changes_between_the_round_trips_reverts_the_transaction(app: PartnerApp, node: FakeNode) -> None:
    built = app.build()
    app.approve(built)
    delegate(app.chain, app.user, deployed(app.chain, "BatchAccount"))
    node.alter = lambda method, _params, result: "0x" if method == "eth_getCode" else result
    response = post(app, built, signatures_of(app.user, built))
    assert response.json()["error"]["code"] == "would_revert"


@pytest.mark.parametrize("contract", ["RehashingBatchAccount", "NestingBatchAccount"])
def test_code_that_hashes_digests_again_refuses_a_plain_signature(app: PartnerApp, contract: str) -> None:
    delegate(app.chain, app.user, deployed(app.chain, contract))
    built = app.build()
    found = problems(post(app, built, [sign(app.user, built["permit2"]).hex()]))
    assert ("signatures[0]", "refused_by_account") in found


def test_code_that_accepts_more_in_calls_than_in_transactions_is_asked_as_in_one(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    app.chain.put_code(app.user.address, ACCEPTS_IN_CALLS)
    assert ("signatures[0]", "refused_by_account") in problems(post(app, built, ["0x11"]))


def test_what_the_key_signed_of_the_digest_that_its_code_makes_is_good(app: PartnerApp) -> None:
    delegate(app.chain, app.user, deployed(app.chain, "RehashingBatchAccount"))
    built = app.build()
    app.approve(built)
    digest = bound_digest(app.chain, app.user.address, built)
    signature = bytes(app.user.unsafe_sign_hash(Hash32(digest)).signature)
    assert send(app, built, finalize(app, built, [signature.hex()]))["status"] == "completed"


def bound_digest(chain: LocalChain, account: str, built: dict[str, Any]) -> bytes:
    """Return what the account's code makes of Permit2's digest."""
    data = keccak(b"boundDigest(bytes32)")[:4] + digest_of(built["permit2"])
    return bytes.fromhex(chain.rpc("eth_call", {"to": account, "data": f"0x{data.hex()}"}, "latest")[2:])


def test_a_nested_signature_goes_to_the_account_as_it_is(app: PartnerApp) -> None:
    delegate(app.chain, app.user, deployed(app.chain, "NestingBatchAccount"))
    built = app.build()
    app.approve(built)
    signature = nested(app.user, built["permit2"], name="NestingBatchAccount", version="1")
    answer = finalize(app, built, [signature.hex()])
    assert signature.hex() in answer["transaction"]["data"]
    assert send(app, built, answer)["status"] == "completed"


@only_v5
def test_code_may_use_much_gas_to_check_a_signature(app: PartnerApp) -> None:
    # Counts down from a number with four digits, at about 50 gas each, and accepts.
    loops = (CHECK_GAS_LIMIT // 50 * 9 // 10).to_bytes(3).hex()
    counts = f"62{loops}5b60019003805f1060045700"
    accepts = "631626ba7e60e01b60005260206000f3"
    app.chain.put_code(app.user.address, counts.removesuffix("00") + "50" + accepts)
    built = app.build()
    app.approve(built)
    assert finalize(app, built, signatures_of(app.user, built))["wallet"]["code"] == "contract"
