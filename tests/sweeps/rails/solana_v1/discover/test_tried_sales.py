"""The best sales of a wallet are simulated: a failure is named in a build's words, and the rest is not judged."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from solders.account import Account
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM

from dev.solana import extensions
from dev.solana.swap_api.server import Response
from partners.models import Partner
from sweepapi.errors import TokensRefused
from sweepapi.rpc import ProviderPool
from sweepapi.solana.encoding.addresses import TOKEN, TOKEN_2022
from sweeps.rails.solana_v1.discover.selling import MAX_TRIED
from tests import fake_node, swap_attacks
from tests.fake_node import FakeNode
from tests.solana_cluster import SolanaCluster
from tests.solana_discovery import look, reasons
from tests.solana_swap_api import SwapMarket
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

Body = dict[str, Any]


@pytest.fixture
def node(user: SolanaUser, use_nodes: Callable[..., ProviderPool]) -> Iterator[FakeNode]:
    """The only provider, which forwards to the cluster."""
    with fake_node.running(user.cluster.url) as one:
        use_nodes(one.url)
        yield one


def alter_one(user: SolanaUser, mint: Pubkey, change: Callable[[Any, Body], Body]) -> None:
    """Change what the swap API answers for one token."""
    user.market.api.alter = lambda query, body: change(query, body) if query["inputMint"] == str(mint) else body


def failing(_query: Any, body: Body) -> Body:
    body["swapInstruction"]["accounts"][1]["pubkey"] = str(SYSTEM)
    return body


def test_the_ten_that_bring_most_are_tried_and_the_others_are_neither_good_nor_bad(user: SolanaUser) -> None:
    held = [user.hold((number + 1) * DOLLAR) for number in range(MAX_TRIED + 2)]

    answer = look(user)

    worst = dict.fromkeys(map(str, held[:2]), (None, "not_simulated"))
    assert reasons(answer) == worst | dict.fromkeys(map(str, held[2:]), (True, None))
    untried = [token for token in answer["tokens"] if token["reason"] == "not_simulated"]
    assert {token["verdict"] for token in untried} == {None}
    assert all(token["estimatedOutput"] and token["netValue"] for token in untried)
    tried = [int(token["estimatedOutput"]) for token in answer["tokens"] if token["routable"]]
    assert int(answer["totals"]["estimatedOutput"]) == sum(tried)


def test_a_sale_that_fails_is_named_and_the_others_are_tried(user: SolanaUser, round_trips: list[list[str]]) -> None:
    good, bad = user.hold(), user.hold()
    alter_one(user, bad, failing)

    answer = look(user)

    assert reasons(answer) == {str(good): (True, None), str(bad): (False, "simulation_failed")}
    shown = {token["mint"]: token for token in answer["tokens"]}[str(bad)]
    assert shown["verdict"] == "unsellable"
    assert shown["message"].startswith("Its sale fails in a simulation: ")
    assert len(round_trips) == 5  # that one was tried again


@pytest.mark.parametrize("attack", [swap_attacks.lamports, swap_attacks.more_of_the_input, swap_attacks.approval])
def test_a_sale_that_would_do_more_than_it_should_is_not_offered(
    user: SolanaUser, attack: Callable[[Pubkey], swap_attacks.Alter]
) -> None:
    good, bad = user.hold(), user.hold()
    user.cluster.faucet.create_account(user.key, user.cluster.usdc)
    thief = user.cluster.create_wallet().pubkey()
    for mint in (bad, user.cluster.usdc):
        user.cluster.faucet.create_account(thief, mint)
    alter_one(user, bad, attack(thief))

    assert reasons(look(user)) == {str(good): (True, None), str(bad): (False, "unusable_quote")}


def test_a_lookup_table_that_does_not_exist_spoils_one_sale(user: SolanaUser) -> None:
    good, bad = user.hold(), user.hold()
    invented = {str(Pubkey.new_unique()): []}  # type: ignore[var-annotated]
    alter_one(user, bad, lambda _query, body: body | {"addressesByLookupTableAddress": invented})

    assert reasons(look(user)) == {str(good): (True, None), str(bad): (False, "unusable_quote")}


@pytest.mark.parametrize("lamports", [0, 1_000_000])
def test_nothing_is_tried_with_a_wallet_that_can_not_pay_for_it(
    swap_api: SwapMarket, partner: Partner, lamports: int
) -> None:
    user = SolanaUser(swap_api, partner, lamports=lamports)
    mint = user.hold()

    (token,) = look(user)["tokens"]

    assert (token["mint"], token["routable"], token["reason"]) == (str(mint), None, "insufficient_balance")
    assert token["estimatedOutput"] is not None


def test_a_provider_that_simulates_nothing_costs_only_the_proof(user: SolanaUser, node: FakeNode) -> None:
    mint = user.hold()
    node.alter = lambda method, _params, result: "nothing" if method == "simulateTransaction" else result

    assert reasons(look(user)) == {str(mint): (None, "not_simulated")}


def test_a_fee_account_that_can_not_be_paid_leaves_tokens_unquoted(user: SolanaUser, cluster: SolanaCluster) -> None:
    mint = user.hold()
    cluster.faucet.freeze(cluster.faucet.associated_account(cluster.fee_wallet, cluster.usdc), cluster.usdc)

    assert reasons(look(user)) == {str(mint): (None, "not_quoted")}


def test_bursts_of_429_leave_tokens_for_later_and_say_when(user: SolanaUser) -> None:
    held = [user.hold() for _ in range(12)]
    seen = iter(range(1_000))
    limited = Response(429, b"{}", {"Retry-After": "7"})
    user.market.api.admit = lambda: limited if next(seen) % 6 > 3 else {}

    answer = look(user)

    assert set(reasons(answer)) == set(map(str, held))
    assert {reason for _, reason in reasons(answer).values()} <= {None, "not_simulated", "not_quoted"}
    assert (None, "not_quoted") in reasons(answer).values()
    assert 1 <= answer["retryAfterSeconds"] <= 8


# --- Token-2022 -------------------------------------------------------------------------------------------------------

TAIL_AT = 166  # of a mint or an account with extensions
PAUSABLE, CONFIDENTIAL_ACCOUNT, MEMO_TRANSFER = 26, 5, 8


def extend(cluster: SolanaCluster, key: Pubkey, kind: int, value: bytes, *, account_type: int) -> None:
    """Write another extension into a mint or an account."""
    found = cluster.bank.account(key)
    assert found is not None
    data = found.data if len(found.data) > TAIL_AT else found.data.ljust(165, b"\0") + bytes([account_type])
    entry = kind.to_bytes(2, "little") + len(value).to_bytes(2, "little") + value
    cluster.bank.set_account(key, Account(found.lamports + 10_000_000, data + entry, found.owner))


@pytest.mark.parametrize(
    ("kind", "extension"),
    [("transfer_hook", extensions.transfer_hook(TOKEN)), ("non_transferable", extensions.non_transferable())],
)
def test_a_token_that_restricts_transfers_is_unsellable(
    user: SolanaUser, kind: str, extension: extensions.Extension
) -> None:
    good, bad = user.hold(), user.hold(program=TOKEN_2022, extensions=[extension])

    assert reasons(look(user)) == {str(good): (True, None), str(bad): (False, kind)}


@pytest.mark.parametrize(("paused", "reason"), [(b"\x01", (False, "paused")), (b"\0", (True, None))])
def test_a_pausable_token_is_unsellable_while_it_is_paused(
    user: SolanaUser, cluster: SolanaCluster, paused: bytes, reason: tuple[bool, str | None]
) -> None:
    mint = user.hold(program=TOKEN_2022)
    extend(cluster, mint, PAUSABLE, bytes(32) + paused, account_type=1)

    found = reasons(look(user))[str(mint)]

    assert found == reason


def test_a_token_with_a_transfer_fee_is_sold(user: SolanaUser) -> None:
    mint = user.hold(program=TOKEN_2022, extensions=[extensions.transfer_fee(300)])

    (token,) = look(user)["tokens"]

    assert (token["mint"], token["routable"], token["verdict"]) == (str(mint), True, "taxed")


def test_an_account_that_requires_memos_of_those_who_pay_into_it_is_sold_from(
    user: SolanaUser, cluster: SolanaCluster
) -> None:
    mint = user.hold(program=TOKEN_2022)
    at = cluster.faucet.associated_account(user.key, mint)
    extend(cluster, at, MEMO_TRANSFER, b"\x01", account_type=2)

    assert reasons(look(user)) == {str(mint): (True, None)}
    user.send(user.build({mint: 5 * DOLLAR}))
    assert not user.has_account(mint)


def test_a_confidential_balance_is_neither_sold_nor_is_its_rent_promised(
    user: SolanaUser, cluster: SolanaCluster
) -> None:
    """Its account can't be closed before that balance is withdrawn, so selling the rest returns no rent."""
    plain, confidential = user.hold(program=TOKEN_2022), user.hold(program=TOKEN_2022)
    at = cluster.faucet.associated_account(user.key, confidential)
    extend(cluster, at, CONFIDENTIAL_ACCOUNT, bytes(295), account_type=2)

    shown = {token["mint"]: token for token in look(user)["tokens"]}

    assert [shown[str(mint)]["routable"] for mint in (plain, confidential)] == [True, True]
    assert int(shown[str(plain)]["gasShare"]) < 0 < int(shown[str(confidential)]["gasShare"])
    built = user.build({plain: 5 * DOLLAR, confidential: 5 * DOLLAR})
    assert [one["mint"] for one in built["closedAccounts"]] == [str(plain)]
    user.send(built)
    assert (user.balance(confidential), user.has_account(confidential)) == (0, True)


def test_a_token_that_is_frozen_after_the_discovery_is_named_by_the_build(
    user: SolanaUser, cluster: SolanaCluster
) -> None:
    frozen, good = user.hold(), user.hold()
    assert {reason for _, reason in reasons(look(user)).values()} == {None}
    cluster.faucet.freeze(cluster.faucet.associated_account(user.key, frozen), frozen)
    with pytest.raises(TokensRefused) as refused:
        user.build({good: 5 * DOLLAR, frozen: 5 * DOLLAR})
    assert [(one.field, one.code) for one in refused.value.details] == [("tokens[1].mint", "frozen")]
    assert [one["reason"] for one in user.build({good: DOLLAR, frozen: DOLLAR}, leaves_out=True)["skippedTokens"]] == [
        "frozen"
    ]
