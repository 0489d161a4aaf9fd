"""POST /v2/sweep/build: the response to a valid request."""

from datetime import UTC, datetime
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import encode_typed_data

from ledger.models import JournalEntry
from partners.models import Partner
from sweepapi import networks
from sweepapi.evm.contracts import batch, v5
from sweepapi.evm.contracts.permit2 import BITS_PER_WORD
from sweepapi.evm.encoding.addresses import NATIVE_COIN, keccak_hex
from sweepapi.evm.pools.types import MAX_AMOUNT
from sweepapi.evm.tokens.erc20 import APPROVE
from sweepapi.fees import FeeRates
from sweepapi.fields import UINT256_MAX
from sweeps.models import Sweep
from sweeps.rails.evm.build.issuing import FIRST_PERMIT_WORD
from tests.factories.partners import PayoutWalletFactory
from tests.local_chain import PERMIT2
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, details_of

pytestmark = pytest.mark.django_db

# Runtime code of hostile tokens.
ANSWERS_ONE = "600160005260206000f3"  # returns 1 from every call
BURNS_ALL_GAS = "fe"


def legs_of(built: dict[str, Any]) -> list[list[str]]:
    """Return the legs of the call: token, amount, floor and hop."""
    legs: list[list[str]] = built["transactionTemplate"]["args"][0][0]
    return legs


def numbers(value: Any) -> Any:
    """Return an argument of a template with its decimal strings as integers, as the ABI takes it."""
    if isinstance(value, list):
        return [numbers(item) for item in value]
    return int(value) if value.isdecimal() else value


def witness_of(built: dict[str, Any]) -> dict[str, Any]:
    witness: dict[str, Any] = built["permit2"]["message"]["witness"]
    return witness


def test_the_response_is_201_in_the_documented_shape(app: PartnerApp) -> None:
    response = app.post_build(app.body({"USDC": 3, "GUSD": 2}))
    assert response.status_code == 201
    assert_documented(response, path="/v2/sweep/build")


def test_the_response_names_the_sweep_the_contract_and_the_modes(app: PartnerApp) -> None:
    built = app.build()
    facts = ("status", "chain", "chainId", "mode", "contractVersion", "contractAddress", "feeMode", "skippedTokens")
    assert {name: built[name] for name in facts} == {
        "status": "pending",
        "chain": "local",
        "chainId": 31337,
        "mode": "v5_partner_fees",
        "contractVersion": "v5",
        "contractAddress": app.chain.contracts["v5"],
        "feeMode": "onchain_partner_fees",
        "skippedTokens": [],
    }
    assert Sweep.objects.get().id.version == 7
    assert built["sweepId"] == str(Sweep.objects.get().id)


def test_output_and_fees_follow_the_published_formulas(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "DAI": 2})
    gross = sum(int(token["expectedOutput"]) for token in built["tokens"])
    min_gross = sum(int(token["minOutput"]) for token in built["tokens"])
    expected = FeeRates(75, 4000).split(gross)
    floors = [token["floor"] for token in built["tokens"]]
    assert built["estimatedOutput"] == {
        "token": app.chain.token("WETH").address,
        "symbol": "WETH",
        "decimals": 18,
        "gross": str(gross),
        "minGross": str(min_gross),
        "user": str(expected.user_amount),
        "minUser": str(sum(map(int, floors))),
    }
    assert built["feeSummary"] == {
        "totalFeeBps": 75,
        "partnerShareBps": 4000,
        "totalFee": str(expected.total_fee),
        "partnerFee": str(expected.partner_fee),
        "protocolFee": str(expected.protocol_fee),
        "userAmount": str(expected.user_amount),
    }
    assert witness_of(built)["floors"] == floors == [leg[2] for leg in legs_of(built)]


def test_identity_recipient_and_share_come_from_the_key(app: PartnerApp, partner: Partner) -> None:
    authorization = app.build()["feeAuthorization"]
    assert authorization["partnerId"] == partner.onchain_id
    assert authorization["partnerRecipient"] == Partner.objects.get().payout_wallet
    assert authorization["protocolRecipient"] == networks.current().chains["local"].protocol_recipient
    assert (authorization["totalFeeBps"], authorization["partnerShareBps"]) == (75, 4000)
    assert authorization["user"] == app.user.address


def test_the_payout_wallet_of_a_chain_takes_precedence_over_the_default(app: PartnerApp, partner: Partner) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, network="eip155:31337")
    wallet.refresh_from_db()
    assert app.build()["feeAuthorization"]["partnerRecipient"] == wallet.address


def test_the_authorization_is_signed_by_the_fee_signer_over_exactly_this_route(app: PartnerApp) -> None:
    built = app.build({"TFEE": 5, "USDT": 2, "WETH": 0.1}, output="USDC")
    authorization = built["feeAuthorization"]
    legs, last_hop, max_skipped, calls = numbers(built["transactionTemplate"]["args"][0])
    calls = [(leg, router, bytes.fromhex(data[2:])) for leg, router, data in calls]
    encoded = encode([batch.ROUTE_TYPE], [(legs, last_hop, max_skipped, calls)])
    assert authorization["legsHash"] == keccak_hex(encoded)
    typed_data = v5.Authorization(
        user=authorization["user"],
        partner_id=authorization["partnerId"],
        partner_recipient=authorization["partnerRecipient"],
        protocol_recipient=authorization["protocolRecipient"],
        output_token=authorization["outputToken"],
        total_fee_bps=authorization["totalFeeBps"],
        partner_share_bps=authorization["partnerShareBps"],
        nonce=int(authorization["nonce"]),
        deadline=int(authorization["deadline"]),
        legs_hash=authorization["legsHash"],
    ).typed_data(chain_id=31337, contract=app.chain.contracts["v5"])
    assert authorization["digest"] == typed_data.digest
    signable = encode_typed_data(full_message=typed_data.signable())
    recovered = Account.recover_message(signable, signature=authorization["signature"])
    assert recovered == authorization["signer"] == networks.current().fee_signer.address


def test_authorization_and_permit_expire_900_seconds_after_the_later_of_both_clocks(app: PartnerApp) -> None:
    before = int(datetime.now(UTC).timestamp())
    now = app.build()
    app.chain.mine(seconds=5000)
    head = app.chain.web3.eth.get_block("latest")["timestamp"]
    ahead = app.build()
    assert 0 <= int(now["feeAuthorization"]["deadline"]) - before - 900 <= 10
    assert int(ahead["feeAuthorization"]["deadline"]) == head + 900
    for built in (now, ahead):
        assert built["permit2"]["message"]["deadline"] == built["feeAuthorization"]["deadline"]
        expires_at = datetime.fromisoformat(built["expiresAt"])
        assert int(expires_at.timestamp()) == int(built["feeAuthorization"]["deadline"])


def test_each_build_gets_the_next_two_nonces(app: PartnerApp) -> None:
    first, second = app.build(), app.build()
    assert int(second["feeAuthorization"]["nonce"]) == int(first["feeAuthorization"]["nonce"]) + 1
    assert int(second["permit2"]["message"]["nonce"]) == int(first["permit2"]["message"]["nonce"]) + 1


def test_a_permit_nonce_that_the_user_spent_elsewhere_is_skipped(app: PartnerApp) -> None:
    invalidate = "3ff9dcb1"  # Permit2's invalidateUnorderedNonces(uint256 wordPos, uint256 mask)
    data = f"0x{invalidate}{FIRST_PERMIT_WORD:064x}{0b111:064x}"
    app.chain.receipt(app.chain.send(app.user, {"to": PERMIT2, "data": data}))
    nonce = int(app.build()["permit2"]["message"]["nonce"])
    assert nonce == FIRST_PERMIT_WORD * BITS_PER_WORD + 3


def test_numbers_in_the_typed_data_are_strings(app: PartnerApp) -> None:
    message = app.build()["permit2"]["message"]
    assert message["permitted"] == [{"token": app.chain.token("USDC").address, "amount": "3000000"}]
    assert isinstance(message["nonce"], str)
    assert isinstance(message["witness"]["totalFeeBps"], str)
    assert message["spender"] == app.chain.contracts["v5"]


def test_the_placeholder_signature_is_zero_and_where_the_template_says(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "GUSD": 2})
    template, transaction = built["transactionTemplate"], built["transaction"]
    place = template["signature"]
    end = (len(template["data"]) - 2) // 2
    assert place == {"argIndex": 5, "byteOffset": end - 96, "length": 65, "lengthOffset": end - 128}
    data = bytes.fromhex(template["data"][2:])
    assert data[place["lengthOffset"] : place["byteOffset"]] == (65).to_bytes(32, "big")
    assert data[place["byteOffset"] :] == bytes(96)
    assert template["args"][5] == f"0x{'00' * 65}"
    assert transaction == {
        "chainId": 31337,
        "from": app.user.address,
        "to": app.chain.contracts["v5"],
        "value": "0",
        "data": template["data"],
        "gas": transaction["gas"],
        "dataFee": "0",
    }


def test_abi_and_arguments_encode_to_the_same_call(app: PartnerApp) -> None:
    template = app.build({"USDC": 3, "GUSD": 2, "TFEE": 5})["transactionTemplate"]
    contract = app.chain.web3.eth.contract(abi=template["abi"])
    assert contract.encode_abi(template["functionName"], numbers(template["args"])) == template["data"]


def test_the_abi_of_the_template_is_the_function_and_the_errors_of_the_contract(app: PartnerApp) -> None:
    function, *errors = app.build()["transactionTemplate"]["abi"]
    assert (function["type"], function["name"]) == ("function", "sweep")
    assert {error["type"] for error in errors} == {"error"}
    assert {"LegFailed", "EnforcedPause", "AuthorizationExpired", "InsufficientUserOutput"} <= {
        error["name"] for error in errors
    }


def test_native_output_is_requested_by_the_address_of_the_native_coin(app: PartnerApp) -> None:
    built = app.build({"USDC": 3}, output="ETH")
    output = built["estimatedOutput"]
    assert (output["token"], output["symbol"], output["decimals"]) == (NATIVE_COIN, "ETH", 18)
    assert built["feeAuthorization"]["outputToken"] == NATIVE_COIN
    assert built["permit2"]["message"]["witness"]["outputToken"] == NATIVE_COIN


def test_the_largest_amount_that_a_leg_takes_is_handled_exactly_everywhere(app: PartnerApp) -> None:
    body = app.body({"WETH": 1, "USDC": 1}, output="ETH")
    body["tokens"][0]["amount"] = str(MAX_AMOUNT)
    built = app.post_build(body).json()["data"]
    gross = MAX_AMOUNT + int(built["tokens"][1]["expectedOutput"])
    assert built["estimatedOutput"]["gross"] == str(gross)
    assert legs_of(built)[0][1] == built["permit2"]["message"]["permitted"][0]["amount"] == str(MAX_AMOUNT)
    assert Sweep.objects.get().offers.get().expected_gross == gross
    expected = app.state(built["sweepId"])["feeAuthorization"]["expectedFees"]
    assert expected["grossOutput"] == str(gross)
    assert int(expected["totalFee"]) + int(expected["userAmount"]) == gross


def test_a_larger_amount_has_no_route(app: PartnerApp) -> None:
    body = app.body({"WETH": 1, "USDC": 1}, output="ETH")
    for amount in (MAX_AMOUNT + 1, UINT256_MAX):
        body["tokens"][0]["amount"] = str(amount)
        response = app.post_build(body)
        assert (response.status_code, details_of(response)) == (422, {("tokens[0].mint", "no_route")})


def test_addresses_may_come_in_any_valid_casing(app: PartnerApp) -> None:
    body = app.body({"USDC": 3})
    mint = body["tokens"][0]["mint"]
    body["tokens"][0]["mint"] = mint.lower()
    body["wallet"] = "0x" + body["wallet"][2:].upper()
    built = app.post_build(body).json()["data"]
    assert (built["tokens"][0]["mint"], built["transaction"]["from"]) == (mint, app.user.address)


def test_on_unroutable_may_name_the_default(app: PartnerApp) -> None:
    assert app.build(onUnroutable="reject")["skippedTokens"] == []


def test_missing_balance_and_allowance_are_reported_and_not_refused(app: PartnerApp) -> None:
    balance = app.chain.balance(app.user.address, app.chain.token("USDC"))
    issues = app.build({"USDC": 1_000_000})["issues"]
    usdc = app.chain.token("USDC").address
    assert issues["balance"] == [{"token": usdc, "actual": str(balance), "required": str(10**12)}]
    approve = {"to": usdc, "data": "0x" + APPROVE.encode(PERMIT2, 10**12).hex(), "value": "0", "gas": "100000"}
    missing = {"token": usdc, "spender": PERMIT2, "actual": "0", "required": str(10**12)}
    assert issues["allowance"] == [{**missing, "resetTransaction": None, "transaction": approve}]


def test_a_user_with_enough_balance_and_allowance_has_no_issues(app: PartnerApp) -> None:
    app.chain.approve(app.user, app.chain.token("USDC"))
    issues = app.build({"USDC": 3})["issues"]
    assert (issues["allowance"], issues["balance"], issues["gas"]) == ([], [], [])
    assert issues["simulation"]["status"] == "ok"


@pytest.mark.parametrize(("symbol", "resets"), [("USDT", True), ("USDC", False)])
def test_an_allowance_that_is_too_small_is_reset_first_where_the_token_requires_it(
    app: PartnerApp, symbol: str, *, resets: bool
) -> None:
    token = app.chain.token(symbol)
    small = "0x" + APPROVE.encode(PERMIT2, 5).hex()
    app.chain.receipt(app.chain.send(app.user, {"to": token.address, "data": small}))
    (issue,) = app.build({symbol: 3})["issues"]["allowance"]
    reset = {"to": token.address, "data": "0x" + APPROVE.encode(PERMIT2, 0).hex(), "value": "0"}
    sent = issue["resetTransaction"]
    assert (None if sent is None else {name: sent[name] for name in reset}) == (reset if resets else None)
    assert issue["actual"] == "5"


def test_a_build_stores_the_sweep_and_books_nothing(app: PartnerApp, partner: Partner) -> None:
    built = app.build({"USDC": 3, "GUSD": 2})
    sweep = Sweep.objects.get()
    authorization = sweep.offers.get().authorization
    assert (sweep.partner, sweep.status, sweep.is_open) == (partner, "pending", True)
    assert [token.asset for token in sweep.tokens.all()] == [token["mint"] for token in built["tokens"]]
    assert authorization.digest == built["feeAuthorization"]["digest"]
    assert authorization.token_count == 2
    assert not JournalEntry.objects.exists()


def test_a_hostile_token_does_not_affect_the_other_tokens(app: PartnerApp) -> None:
    burner = app.chain.put_code("0x" + "b1" * 20, BURNS_ALL_GAS)
    liar = app.chain.put_code("0x" + "b2" * 20, ANSWERS_ONE)
    body = app.body({"USDC": 3})
    body["tokens"] += [{"mint": burner, "amount": "1"}, {"mint": liar, "amount": "1"}]
    refused = app.post_build(body).json()["error"]
    assert [(d["field"], d["code"]) for d in refused["details"]] == [("tokens[1].mint", "not_a_token")]
    del body["tokens"][1]
    refused = app.post_build(body).json()["error"]
    assert [(d["field"], d["code"]) for d in refused["details"]] == [("tokens[1].mint", "no_route")]


def test_the_typed_data_names_its_domain_as_permit2_does(app: PartnerApp) -> None:
    permit = app.build()["permit2"]
    assert permit["domain"] == {"name": "Permit2", "chainId": 31337, "verifyingContract": PERMIT2}
    assert [field["name"] for field in permit["types"]["EIP712Domain"]] == ["name", "chainId", "verifyingContract"]
    assert permit["primaryType"] == "PermitBatchWitnessTransferFrom"
