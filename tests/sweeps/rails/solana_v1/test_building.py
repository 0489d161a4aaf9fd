"""A build on Solana: what it answers and stores, and that its transactions do on the cluster what the answer says."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from solders.compute_budget import set_compute_unit_price
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction
from spl.token import instructions as token

from dev.solana import extensions
from dev.solana.faucet import LAMPORTS_PER_SOL
from dev.solana.swap_api.answers import instruction
from partners.models import Partner
from sweepapi import networks
from sweepapi.errors import SweepFailed
from sweepapi.fees import FeeRates, floor_share
from sweepapi.networks import Networks
from sweepapi.solana.encoding.addresses import TOKEN_2022, WRAPPED_SOL
from sweepapi.token_amounts import whole_tokens
from sweeps.models import Execution, Offer, Sweep
from sweeps.protocol.request import TokenInput
from sweeps.rails.solana_v1.models import BuiltTransaction
from sweeps.story.build import renew_offer
from tests.solana_cluster import SolanaCluster
from tests.solana_swap_api import SwapMarket
from tests.solana_sweeps import looked_at
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

FEE_BPS = 75
SIGNATURE_FEE = 5_000
MAX_PRIORITY_FEE = 500_000


def opened(answer: dict[str, Any]) -> VersionedTransaction:
    return VersionedTransaction.from_bytes(base64.b64decode(answer["transaction"]))


def say_price(user: SolanaUser, prices: dict[Pubkey, int]) -> None:
    """Have the swap API say these prices of compute units, in micro-lamports, with its quotes for these tokens."""

    def saying(query: Mapping[str, str], body: dict[str, Any]) -> dict[str, Any]:
        price = prices.get(Pubkey.from_string(query["inputMint"]), 0)
        return body | {"computeBudgetInstructions": [instruction(set_compute_unit_price(price))]}

    user.market.api.alter = saying


# --- counts -----------------------------------------------------------------------------------------------------------


def test_ten_tokens_take_three_requests_to_the_cluster_and_two_transactions(
    user: SolanaUser, swap_api: SwapMarket, round_trips: list[list[str]]
) -> None:
    tokens = {user.hold(): 5 * DOLLAR for _ in range(10)}
    swap_api.add_lookup_table()

    built = user.build(tokens)

    assert len(round_trips) == 3
    assert len(built["transactions"]) == 2
    placed = [(one["mint"], one["transactionIndex"]) for one in built["tokens"]]
    assert [mint for mint, _ in placed] == [str(mint) for mint in tokens]
    for index, transaction in enumerate(built["transactions"]):
        assert transaction["tokens"] == [mint for mint, at in placed if at == index]


def test_one_token_is_one_transaction(user: SolanaUser, round_trips: list[list[str]]) -> None:
    assert len(user.build({user.hold(): 5 * DOLLAR})["transactions"]) == 1
    assert len(round_trips) == 3


# --- what the transactions do -----------------------------------------------------------------------------------------


def test_the_user_receives_what_was_promised_and_the_fee_account_its_fee(
    user: SolanaUser, cluster: SolanaCluster
) -> None:
    tokens = {user.hold(4_000_001): 4_000_001, user.hold(micro_usd=2_500_000): 3 * DOLLAR}

    built = user.build(tokens)
    user.send(built)

    estimated, fees = built["estimatedOutput"], built["feeSummary"]
    gross = 4_000_001 + 7_500_000
    assert (estimated["gross"], fees["totalFee"]) == (str(gross), str(floor_share(gross, FEE_BPS)))
    paid = cluster.token_balance(cluster.fee_wallet, cluster.usdc)
    # The fee is rounded down leg by leg, that of the summary once.
    assert 0 <= int(fees["totalFee"]) - paid < len(tokens)
    assert user.balance(cluster.usdc) == gross - paid
    assert user.balance(cluster.usdc) >= int(estimated["user"])


def test_the_smallest_amount_is_sold_without_a_fee(user: SolanaUser) -> None:
    mint = user.hold()
    user.send(user.build({mint: 1}, accepts_uneconomic=True))
    assert user.balance(user.cluster.usdc) == 1


def test_the_minimum_is_what_the_slippage_leaves_with_the_fee_on_top(user: SolanaUser) -> None:
    built = user.build({user.hold(): 5 * DOLLAR}, slippage_bps=100)

    net = 4_962_500 * 99 // 100  # what the swap fails below
    minimum = FeeRates(FEE_BPS, 0).gross_for(net)
    assert built["tokens"][0]["minOutput"] == built["estimatedOutput"]["minGross"] == str(minimum)
    assert built["estimatedOutput"]["minUser"] == str(net)


def test_emptied_accounts_are_closed_and_their_rent_returns(user: SolanaUser) -> None:
    mint = user.hold()
    user.cluster.faucet.create_account(user.key, user.cluster.usdc)
    before = user.lamports

    built = user.build({mint: 5 * DOLLAR})
    user.send(built)

    (closed,) = built["closedAccounts"]
    assert closed["mint"] == str(mint)
    assert built["reclaimedLamports"] == closed["lamports"]
    assert not user.has_account(mint)
    assert user.lamports == before - int(built["networkFeeLamports"]) + int(built["reclaimedLamports"])


def test_each_transaction_says_what_it_does(user: SolanaUser) -> None:
    mint = user.hold()
    built = user.build({mint: 5 * DOLLAR})
    net = whole_tokens(int(built["estimatedOutput"]["user"]), 6)
    rent = whole_tokens(int(built["reclaimedLamports"]), 9)
    name = f"{str(mint)[:4]}…{str(mint)[-4:]}"
    expected = f"Sells {name} for about {net} USDC, closes a token account and returns {rent} SOL."
    assert [one["summary"] for one in built["transactions"]] == [expected]


def test_the_account_that_is_created_for_the_output_is_named_with_its_rent(user: SolanaUser) -> None:
    tokens = {user.hold(): 5 * DOLLAR for _ in range(10)}
    before = user.lamports

    built = user.build(tokens)
    user.send(built)

    assert len(built["transactions"]) > 1
    (created,) = built["createdAccounts"]
    assert created["mint"] == str(user.cluster.usdc)
    assert user.has_account(user.cluster.usdc)
    assert created["lamports"] == built["rentLamports"]
    paid = int(built["networkFeeLamports"]) + int(built["rentLamports"])
    assert user.lamports == before - paid + int(built["reclaimedLamports"])


def test_nothing_is_created_for_a_wallet_that_has_the_output(user: SolanaUser) -> None:
    mint = user.hold()
    user.cluster.faucet.create_account(user.key, user.cluster.usdc)

    built = user.build({mint: 5 * DOLLAR})

    assert (built["createdAccounts"], built["rentLamports"]) == ([], "0")


def test_an_account_that_was_empty_before_is_closed_where_it_fits(user: SolanaUser) -> None:
    mint, empty = user.hold(), user.cluster.faucet.create_mint(3)
    account = user.cluster.faucet.create_account(user.key, empty)

    built = user.build({mint: 5 * DOLLAR})
    user.send(built)

    assert str(account) in built["transactions"][0]["closes"]
    assert not user.has_account(empty)


def test_an_empty_account_that_a_swap_uses_is_not_closed(user: SolanaUser) -> None:
    mint, used = user.hold(), user.cluster.faucet.create_mint(3)
    account = user.cluster.faucet.create_account(user.key, used)
    create = token.create_idempotent_associated_token_account(user.key, user.key, used)

    def passing_through(_query: object, body: dict[str, Any]) -> dict[str, Any]:
        return {**body, "setupInstructions": [*body["setupInstructions"], instruction(create)]}

    user.market.api.alter = passing_through
    built = user.build({mint: 5 * DOLLAR})

    assert str(account) not in built["transactions"][0]["closes"]


def test_no_account_is_closed_if_that_is_not_wanted(user: SolanaUser) -> None:
    mint = user.hold()

    built = user.build({mint: 5 * DOLLAR}, close_empty_accounts=False)
    user.send(built)

    assert built["closedAccounts"] == []
    assert user.has_account(mint)


def test_an_account_that_keeps_a_balance_stays_open(user: SolanaUser) -> None:
    mint = user.hold()

    built = user.build({mint: 2 * DOLLAR})
    user.send(built)

    assert built["closedAccounts"] == []
    assert user.balance(mint) == 3 * DOLLAR


def test_an_account_that_is_refilled_before_its_closing_loses_nothing(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold()
    built = user.build({mint: 5 * DOLLAR})
    cluster.faucet.give_tokens(user.key, mint, 1)

    (landed,) = user.send(built)

    assert landed.outcome.err is not None
    assert user.balance(mint) == 5 * DOLLAR + 1
    assert user.balance(cluster.usdc) == 0


def test_sol_arrives_as_sol(user: SolanaUser) -> None:
    tokens = {user.hold(300 * DOLLAR): 300 * DOLLAR, user.hold(150 * DOLLAR): 150 * DOLLAR}
    before = user.lamports

    built = user.build(tokens, output_asset=str(WRAPPED_SOL))
    user.send(built)

    assert built["estimatedOutput"]["symbol"] == "SOL"
    assert built["estimatedOutput"]["gross"] == str(3 * LAMPORTS_PER_SOL)
    gained = 3 * LAMPORTS_PER_SOL - floor_share(3 * LAMPORTS_PER_SOL, FEE_BPS)
    rent = int(built["reclaimedLamports"])
    assert user.lamports == before + gained + rent - int(built["networkFeeLamports"])
    assert not user.has_account(WRAPPED_SOL)


def test_sol_arrives_together_with_wrapped_sol_that_the_wallet_held(user: SolanaUser, cluster: SolanaCluster) -> None:
    wrapped = cluster.faucet.give_tokens(user.key, WRAPPED_SOL, 7 * LAMPORTS_PER_SOL)
    mint, before = user.hold(150 * DOLLAR), user.lamports

    built = user.build({mint: 150 * DOLLAR}, output_asset=str(WRAPPED_SOL))
    user.send(built)

    assert built["estimatedOutput"]["gross"] == str(LAMPORTS_PER_SOL)
    assert str(wrapped) in built["transactions"][0]["closes"]
    gained = int(built["estimatedOutput"]["user"]) + 7 * LAMPORTS_PER_SOL + int(built["reclaimedLamports"])
    assert user.lamports == before + gained - int(built["networkFeeLamports"])


def test_wrapped_sol_is_swept_like_any_token(user: SolanaUser, cluster: SolanaCluster) -> None:
    cluster.faucet.give_tokens(user.key, WRAPPED_SOL, 2 * LAMPORTS_PER_SOL)

    user.send(user.build({WRAPPED_SOL: 2 * LAMPORTS_PER_SOL}))

    assert user.balance(cluster.usdc) == 300 * DOLLAR - floor_share(300 * DOLLAR, FEE_BPS)
    assert not user.has_account(WRAPPED_SOL)


def test_a_token_of_token_2022_that_restricts_nothing_is_swept(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold(program=TOKEN_2022, extensions=[extensions.transfer_fee(0)])

    user.send(user.build({mint: 5 * DOLLAR}))

    assert user.balance(cluster.usdc) > 0
    assert not user.has_account(mint)


def test_a_token_with_a_transfer_fee_is_swept_because_the_guard_holds_the_output(
    user: SolanaUser, cluster: SolanaCluster
) -> None:
    mint = user.hold(program=TOKEN_2022, extensions=[extensions.transfer_fee(250)])

    built = user.build({mint: 5 * DOLLAR})
    user.send(built)

    assert built["tokens"][0]["transferTaxBps"] == 250
    assert user.balance(cluster.usdc) >= int(built["estimatedOutput"]["minUser"])
    assert not user.has_account(mint)


# --- the transactions themselves --------------------------------------------------------------------------------------


def test_a_transaction_is_unsigned_and_carries_its_reference_read_only(user: SolanaUser) -> None:
    (answer,) = user.build({user.hold(): 5 * DOLLAR})["transactions"]
    transaction = opened(answer)
    reference = Pubkey.from_string(answer["referenceKey"])
    at = transaction.message.account_keys.index(reference)

    assert transaction.signatures == [Signature.default()]
    assert transaction.message.header.num_required_signatures == 1
    assert transaction.message.account_keys[0] == user.key
    assert isinstance(transaction.message, MessageV0)
    assert not transaction.message.is_maybe_writable(at)
    assert not transaction.message.is_signer(at)


def test_each_transaction_has_a_reference_of_its_own(user: SolanaUser) -> None:
    mint = user.hold()
    references = [user.build({mint: DOLLAR})["transactions"][0]["referenceKey"] for _ in range(3)]

    assert len(set(references)) == 3


def test_no_transaction_may_be_put_before_ours_in_a_bundle_where_the_clusters_file_says_so(
    user: SolanaUser, cluster: SolanaCluster, change_networks: Callable[..., Networks]
) -> None:
    change_networks(clusters={"solana": replace(cluster.facts(), dont_front=True)})
    built = user.build({user.hold(): 5 * DOLLAR for _ in range(6)})
    assert len(built["transactions"]) > 1
    for transaction in built["transactions"]:
        assert transaction["referenceKey"].startswith("jitodontfront")
    user.send(built)
    assert looked_at().status == "completed"


def test_the_priority_fee_is_the_highest_that_the_swap_api_says_for_a_token_up_to_its_cap(user: SolanaUser) -> None:
    mint, other = user.hold(), user.hold()
    say_price(user, {mint: 100_000, other: 10**12})
    (modest,) = user.build({mint: DOLLAR})["transactions"]
    (capped,) = user.build({mint: DOLLAR, other: DOLLAR})["transactions"]

    assert int(modest["priorityFeeLamports"]) == -(-modest["computeUnitLimit"] * 100_000 // 10**6)
    assert int(capped["priorityFeeLamports"]) == MAX_PRIORITY_FEE
    assert int(capped["networkFeeLamports"]) == int(capped["priorityFeeLamports"]) + SIGNATURE_FEE


@pytest.mark.parametrize(("percentile", "price"), [("medium", 25_000), ("high", 50_000), ("veryHigh", 75_000)])
def test_where_the_swap_api_says_no_price_recent_blocks_do(
    user: SolanaUser, cluster: SolanaCluster, percentile: str, price: int
) -> None:
    mint = user.hold()
    user.market.api.alter = lambda _query, body: body | {"computeBudgetInstructions": None}
    for number in range(151):
        cluster.bank.priority_fee = number * 100_000 // 150
        cluster.bank.advance()
    (answer,) = user.build({mint: DOLLAR}, price_percentile=percentile)["transactions"]
    paid = int(answer["priorityFeeLamports"])
    assert paid == pytest.approx(answer["computeUnitLimit"] * price / 10**6, rel=0.1)


def test_the_partner_says_which_percentile_of_prices_the_swap_api_is_asked_for(user: SolanaUser) -> None:
    mint, asked = user.hold(), []

    def noted(query: Mapping[str, str], body: dict[str, Any]) -> dict[str, Any]:
        asked.extend([query["computeUnitPricePercentile"]] * (query["inputMint"] == str(mint)))
        return body

    user.market.api.alter = noted
    user.build({mint: DOLLAR}, price_percentile="medium")
    assert asked == ["2500"]


def test_a_transaction_keeps_within_its_compute_units(user: SolanaUser) -> None:
    built = user.build({user.hold(): 5 * DOLLAR for _ in range(4)})

    for landed, answer in zip(user.send(built), built["transactions"], strict=True):
        assert landed.outcome.err is None
        assert landed.outcome.units <= answer["computeUnitLimit"]


# --- what is stored ---------------------------------------------------------------------------------------------------


def test_every_transaction_is_an_execution_with_what_was_composed(user: SolanaUser, cluster: SolanaCluster) -> None:
    tokens = {user.hold(): 5 * DOLLAR for _ in range(10)}
    built = user.build(tokens)

    sweep = Sweep.objects.get(id=built["sweepId"])
    executions = list(Execution.objects.filter(sweep=sweep).order_by("position"))
    assert [execution.execution_id for execution in executions] == [
        one["referenceKey"] for one in built["transactions"]
    ]
    assert {execution.venue for execution in executions} == {str(cluster.fee_wallet)}
    assert [[swept.asset for swept in execution.tokens.order_by("position")] for execution in executions] == [
        one["tokens"] for one in built["transactions"]
    ]
    assert sum(execution.min_gross for execution in executions) == sweep.min_gross
    assert str(sweep.min_gross) == built["estimatedOutput"]["minGross"]
    for execution, answer in zip(executions, built["transactions"], strict=True):
        assert_is_stored(execution.built, answer, cluster)


def assert_is_stored(stored: BuiltTransaction, answer: dict[str, Any], cluster: SolanaCluster) -> None:
    """Check that the stored instructions are those of the message behind the compute budget's two."""
    message = opened(answer).message
    assert stored.last_valid_block_height == answer["lastValidBlockHeight"]
    assert stored.fee_account == str(cluster.faucet.associated_account(cluster.fee_wallet, cluster.usdc))
    assert [(one["program"], one["data"]) for one in stored.instructions] == [
        (str(message.account_keys[one.program_id_index]), base64.b64encode(one.data).decode())
        for one in message.instructions[2:]
    ]


def test_the_terms_are_those_of_a_payable_share(user: SolanaUser, partner: Partner) -> None:
    built = user.build({user.hold(): 5 * DOLLAR})

    sweep = Sweep.objects.get(id=built["sweepId"])
    assert (sweep.rail, sweep.settlement, sweep.partner_recipient) == ("solana_v1", "payable", None)
    assert (built["mode"], built["feeMode"]) == ("v1_solana", "offchain_accounting")
    assert sweep.partner == partner
    assert Offer.objects.get(sweep=sweep).expected_gross == 5 * DOLLAR


@pytest.mark.parametrize("wrong_by", [timedelta(minutes=-4), timedelta(0), timedelta(minutes=4)], ids=str)
def test_the_worker_checks_soon_however_wrong_the_clock_of_the_web_is(
    user: SolanaUser, monkeypatch: pytest.MonkeyPatch, wrong_by: timedelta
) -> None:
    true_time, legs = timezone.now, {user.hold(): 5 * DOLLAR}
    began = true_time()
    with monkeypatch.context() as clock:
        clock.setattr(timezone, "now", lambda: true_time() + wrong_by)
        built = user.build(legs)
    sweep = Sweep.objects.get(id=built["sweepId"])
    assert sweep.next_check_at is not None
    assert began < sweep.next_check_at < true_time() + timedelta(seconds=10)


@pytest.mark.parametrize(("slot_seconds", "lasts_seconds"), [(0.21, 31.5), (0.4, 60)])
def test_the_expiry_follows_the_blockhash_and_the_slot_time(
    user: SolanaUser, cluster: SolanaCluster, slot_seconds: float, lasts_seconds: float
) -> None:
    cluster.bank.slot_seconds = slot_seconds
    sold = {user.hold(): 5 * DOLLAR}
    began = timezone.now()

    built = user.build(sold)

    sweep = Sweep.objects.get(id=built["sweepId"])
    left_seconds = (sweep.deadline - timezone.now()).total_seconds(), (sweep.deadline - began).total_seconds()
    assert left_seconds[0] - 0.1 <= lasts_seconds <= left_seconds[1] + 0.1


def test_a_sweep_is_not_offered_again(user: SolanaUser) -> None:
    built = user.build({user.hold(): 5 * DOLLAR})

    with pytest.raises(SweepFailed):
        renew_offer(networks.current(), Sweep.objects.get(id=built["sweepId"]), answered=dict)


# --- names, and arithmetic --------------------------------------------------------------------------------------------


def test_a_symbol_that_differs_gives_a_warning(user: SolanaUser) -> None:
    named = [extensions.metadata_pointer(), extensions.metadata("Paper Dollar", "PUSD")]
    mint = user.hold(program=TOKEN_2022, extensions=named)

    built = user.build({}, tokens=[TokenInput(str(mint), DOLLAR, symbol="USDC", decimals=6)])

    assert built["tokens"][0]["symbol"] == "PUSD"
    assert built["warnings"][0] == {
        "code": "symbol_differs",
        "message": "The token's symbol is 'PUSD'.",
        "token": str(mint),
    }


@pytest.mark.parametrize("fee_bps", [0, 1, 75, 300])
def test_the_gross_output_leaves_exactly_the_net_one(fee_bps: int) -> None:
    for net in [*range(2_000), 10**12 + 7, 2**64 - 1]:
        gross = FeeRates(fee_bps, 0).gross_for(net)
        assert gross - floor_share(gross, fee_bps) == net
