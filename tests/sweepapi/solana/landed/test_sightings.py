"""What is searched and tracked on the cluster: in few requests, and closed only by two providers that agree."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from solders.keypair import Keypair
from solders.system_program import TransferParams, transfer
from structlog.testing import capture_logs

from dev.solana.history.records import Landed as LocalLanded
from sweepapi.rpc import ProviderPool
from sweepapi.solana.cluster.providers import solana_pool
from sweepapi.solana.landed.opinions import Found
from sweepapi.solana.landed.progress import ReferenceSearch, SearchSighting
from sweepapi.solana.landed.sightings import read_sightings
from sweepapi.solana.landed.tracking import Gone, Tracked, TrackedSighting
from tests import fake_node
from tests.fake_node import Alter, FakeNode
from tests.solana_cluster import SolanaCluster, running
from tests.solana_sweeps import with_reference

OPEN, MAX_REQUESTS = 1_000, 25


@pytest.fixture
def local() -> Iterator[SolanaCluster]:
    with running() as cluster:
        yield cluster


@pytest.fixture
def node(local: SolanaCluster) -> Iterator[FakeNode]:
    """A provider that may answer what is not so."""
    with fake_node.running(local.url) as one:
        yield one


def pool_of(local: SolanaCluster, *urls: str) -> ProviderPool:
    return solana_pool(urls=urls, cluster=local.facts(), timeout_seconds=10)


def search_of(local: SolanaCluster, reference: str = "", **facts: Any) -> ReferenceSearch:
    block = local.bank.blocks.latest
    known: dict[str, Any] = {
        "key": reference,
        "reference": reference or str(Keypair().pubkey()),
        "built_at_slot": block.slot,
        "awaited_until_height": block.last_valid_height,
        "read_up_to": "",
        "is_overdue": False,
        "executes": lambda _landed: False,
    }
    return ReferenceSearch(**(known | facts))


def searches_of(local: SolanaCluster, **facts: Any) -> list[ReferenceSearch]:
    return [search_of(local, str(Keypair().pubkey()), **facts) for _ in range(OPEN)]


def land(local: SolanaCluster, user: Keypair, reference: str, lamports: int = 1) -> LocalLanded:
    to = TransferParams(from_pubkey=user.pubkey(), to_pubkey=local.fee_wallet, lamports=lamports)
    named = with_reference(transfer(to), Keypair().pubkey().from_string(reference))
    return local.send(local.sign(user, [named]))


def land_all(local: SolanaCluster, searches: list[ReferenceSearch]) -> list[Tracked]:
    user = local.create_wallet()
    landed = [land(local, user, one.reference) for one in searches]
    return [Tracked(str(one.signature), str(one.signature), one.block.slot) for one in landed]


# --- how many requests ------------------------------------------------------------------------------------------------


def test_a_thousand_transactions_that_did_not_land_take_four_requests(
    local: SolanaCluster, round_trips: list[list[str]]
) -> None:
    sightings = read_sightings(pool_of(local, local.url, local.add_node()), searches_of(local))
    assert len(sightings) == OPEN
    assert len(round_trips) == 4


def test_a_thousand_transactions_that_landed_take_25_requests_at_most(
    local: SolanaCluster, round_trips: list[list[str]]
) -> None:
    # Each takes a block here, so the first would expire.
    searches = searches_of(local, awaited_until_height=2**39, executes=lambda _landed: True)
    land_all(local, searches)
    sightings = read_sightings(pool_of(local, local.url, local.add_node()), searches)
    assert all(isinstance(one, SearchSighting) and len(one.found) == 1 and one.is_whole for one in sightings.values())
    assert len(round_trips) == 8 < MAX_REQUESTS


def test_a_thousand_transactions_of_strangers_or_failed_ones_take_25_requests_at_most(
    local: SolanaCluster, round_trips: list[list[str]]
) -> None:
    searches = searches_of(local, awaited_until_height=2**39)
    land_all(local, searches)
    local.finalize()
    sightings = read_sightings(pool_of(local, local.url, local.add_node()), searches)
    assert all(isinstance(one, SearchSighting) and one.read_up_to for one in sightings.values())
    assert len(round_trips) == 24 < MAX_REQUESTS


def test_a_thousand_transactions_that_expired_take_25_requests_at_most(
    local: SolanaCluster, round_trips: list[list[str]]
) -> None:
    searches = searches_of(local)
    local.expire_blockhashes()
    sightings = read_sightings(pool_of(local, local.url, local.add_node()), searches)
    assert all(isinstance(one, SearchSighting) and one.is_expired for one in sightings.values())
    assert len(round_trips) == 12 < MAX_REQUESTS


def test_a_thousand_transactions_that_became_final_take_25_requests_at_most(
    local: SolanaCluster, round_trips: list[list[str]]
) -> None:
    tracked = land_all(local, searches_of(local))
    local.finalize()
    sightings = read_sightings(pool_of(local, local.url, local.add_node()), tracked)
    assert all(isinstance(one, TrackedSighting) and isinstance(one.outcome, Found) for one in sightings.values())
    assert len(round_trips) == 12 < MAX_REQUESTS


def test_a_provider_that_takes_fewer_calls_at_once_is_asked_in_halves(local: SolanaCluster, node: FakeNode) -> None:
    node.refuse = lambda batch: len(batch) > 40
    searches = searches_of(local)[:100]
    assert len(read_sightings(pool_of(local, node.url), searches)) == 100


def test_final_transactions_are_asked_for_in_halves_too(local: SolanaCluster, node: FakeNode) -> None:
    node.refuse = lambda batch: len(batch) > 40
    tracked = land_all(local, searches_of(local)[:100])
    local.finalize()
    sightings = read_sightings(pool_of(local, node.url, local.url), tracked)
    assert all(isinstance(one, TrackedSighting) and isinstance(one.outcome, Found) for one in sightings.values())


# --- providers that lie -----------------------------------------------------------------------------------------------


def changed(of_method: str, change: Callable[[Any], Any]) -> Alter:
    return lambda method, _params, result: change(result) if method == of_method and result is not None else result


def richer(transaction: dict[str, Any]) -> dict[str, Any]:
    """Return the transaction as if the payer had given a lamport more to the fee wallet."""
    after = transaction["meta"]["postBalances"]
    after[0], after[1] = after[0] - 1, after[1] + 1
    return transaction


LIES = {
    "another balance": changed("getTransaction", richer),
    "another slot": changed("getTransaction", lambda shown: shown | {"slot": shown["slot"] - 1}),
    "another block": changed("getBlock", lambda shown: shown | {"blockhash": "1" * 32}),
    "no transaction": changed("getTransaction", lambda _shown: None),
    "no status": changed("getSignatureStatuses", lambda shown: shown | {"value": [None]}),
    "too many statuses": changed("getSignatureStatuses", lambda shown: shown | {"value": [None, None]}),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
@pytest.mark.parametrize("liar_is_first", [True, False])
def test_nothing_is_final_or_gone_by_the_word_of_one_of_two(
    local: SolanaCluster, node: FakeNode, lie: Alter, *, liar_is_first: bool
) -> None:
    node.alter = lie
    (tracked,) = land_all(local, [search_of(local)])
    local.finalize()
    urls = [node.url, local.url] if liar_is_first else [local.url, node.url]
    sightings = read_sightings(pool_of(local, *urls), [tracked])[tracked.key]
    assert isinstance(sightings, TrackedSighting)
    assert (sightings.outcome, sightings.is_disputed) == (None, True)


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
@pytest.mark.parametrize("position", [0, 2])
def test_of_three_providers_two_decide(local: SolanaCluster, node: FakeNode, lie: Alter, position: int) -> None:
    node.alter = lie
    (tracked,) = land_all(local, [search_of(local)])
    local.finalize()
    urls = [local.url, local.add_node()]
    urls.insert(position, node.url)
    with capture_logs() as logs:
        sightings = read_sightings(pool_of(local, *urls), [tracked])[tracked.key]
    assert isinstance(sightings, TrackedSighting)
    assert isinstance(sightings.outcome, Found)
    assert not sightings.is_disputed
    assert all(one["outvoted"] == [position] for one in logs if one["event"] == "providers_disagree")


def test_two_providers_that_show_different_balances_raise_an_alert(local: SolanaCluster, node: FakeNode) -> None:
    node.alter = LIES["another balance"]
    (tracked,) = land_all(local, [search_of(local)])
    local.finalize()
    with capture_logs() as logs:
        read_sightings(pool_of(local, local.url, node.url), [tracked])
    (alert,) = [one for one in logs if one["event"] == "providers_disagree"]
    assert (alert["log_level"], alert["subject"], alert["outvoted"]) == ("error", tracked.key, [])


def test_what_two_providers_lost_is_gone(local: SolanaCluster) -> None:
    user = local.create_wallet()
    landed = land(local, user, str(Keypair().pubkey()))
    tracked = Tracked("one", str(landed.signature), landed.block.slot)
    local.drop(landed.signature)
    local.finalize()
    sightings = read_sightings(pool_of(local, local.url, local.add_node()), [tracked])["one"]
    assert isinstance(sightings, TrackedSighting)
    assert sightings.outcome is Gone.GONE


def test_what_is_not_confirmed_in_another_block_is_not_gone(local: SolanaCluster, node: FakeNode) -> None:
    """A status may be that of a fork which the cluster abandons."""

    def forked(status: dict[str, Any]) -> dict[str, Any]:
        return status | {"slot": status["slot"] + 1, "confirmationStatus": "processed"}

    node.alter = changed("getSignatureStatuses", lambda shown: shown | {"value": [*map(forked, shown["value"])]})
    (tracked,) = land_all(local, [search_of(local)])
    sightings = read_sightings(pool_of(local, node.url), [tracked])[tracked.key]
    assert isinstance(sightings, TrackedSighting)
    assert (sightings.outcome, sightings.is_included) == (None, False)


NOT_LISTS: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda _listed: None,
    "a text": lambda _listed: "[]",
    "more than asked for": lambda listed: [listed[0] | {"signature": str(Keypair().sign_message(b""))}] * 21,
    "a signature twice": lambda listed: listed * 2,
    "the oldest first": lambda listed: [*listed, listed[0] | {"slot": 2**39, "signature": "5" * 88}],
    "no signature": lambda listed: [listed[0] | {"signature": "0"}],
    "a negative slot": lambda listed: [listed[0] | {"slot": -1}],
}


@pytest.mark.parametrize("change", NOT_LISTS.values(), ids=NOT_LISTS)
def test_what_is_not_a_list_of_signatures_proves_nothing_and_another_provider_is_used(
    local: SolanaCluster, node: FakeNode, change: Callable[[Any], Any]
) -> None:
    node.alter = lambda method, _params, result: change(result) if method == "getSignaturesForAddress" else result
    search = search_of(local, str(Keypair().pubkey()))
    land_all(local, [search])
    sightings = read_sightings(pool_of(local, node.url, local.url), [search])[search.key]
    assert isinstance(sightings, SearchSighting)
    assert [one.landed.slot for one in sightings.found] == [local.bank.blocks.latest.slot]


def test_a_provider_that_hides_a_transaction_does_not_make_it_expire(local: SolanaCluster, node: FakeNode) -> None:
    node.alter = changed("getSignaturesForAddress", lambda _listed: [])
    search = search_of(local, str(Keypair().pubkey()))
    land_all(local, [search])
    local.expire_blockhashes()
    sightings = read_sightings(pool_of(local, node.url, local.url), [search])[search.key]
    assert isinstance(sightings, SearchSighting)
    assert (len(sightings.found), sightings.is_expired) == (1, False)


def test_a_node_behind_a_balancer_that_lags_proves_nothing(local: SolanaCluster, node: FakeNode) -> None:
    """One node tells the height and another the signatures, which it must refuse below the slot of that height."""
    node.alter = changed("getEpochInfo", lambda shown: shown | {"blockHeight": 2**39, "absoluteSlot": 2**39})
    search = search_of(local)
    sightings = read_sightings(pool_of(local, node.url), [search])[search.key]
    assert isinstance(sightings, SearchSighting)
    assert not sightings.is_expired
