"""Beat has the books compared with the last day of each chain once a day; differences are an alert and a metric."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from indexer import books, reconciliation
from indexer.figures import Figures
from sweepapi import networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.models import Comparison
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.rails.evm.reconcile import rereading
from tests.indexer.reconciled import NETWORK, behind_final
from tests.local_chain import FINAL_AFTER
from tests.lost_commits import lost_commits
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

DAYS = timedelta(days=2)


def aging_blocks(method: str, params: list[Any], result: Any) -> Any:
    """Have all blocks be from 1970."""
    is_block = method == "eth_getBlockByNumber" and params[0] != "finalized"
    return result | {"timestamp": "0x1"} if is_block else result


def compare() -> list[dict[str, Any]]:
    """Compare if that is due; return what was warned of."""
    with capture_logs() as logs:
        books.compare_last_day()
    return [dict(entry) for entry in logs if entry["log_level"] != "info"]


def lose_one(app: PartnerApp) -> str:
    with lost_commits():
        _, tx_hash = app.complete()
    app.chain.mine(FINAL_AFTER)
    reconciliation.reconcile()
    return tx_hash


def test_a_difference_is_an_alert_that_names_it(app: PartnerApp) -> None:
    app.build()
    tx_hash = lose_one(app)
    (alert,) = compare()
    assert (alert["event"], alert["log_level"], alert["network"], alert["count"]) == (
        "books_differ",
        "error",
        NETWORK,
        1,
    )
    assert [(one["problem"], one["tx_hash"]) for one in alert["first_ones"]] == [("event_without_sweep", tx_hash)]


def test_the_result_is_stored_and_measured(app: PartnerApp) -> None:
    app.build()
    lose_one(app)
    compare()
    stored = Comparison.objects.get()
    assert (stored.network, stored.differences, stored.last_block) == (NETWORK, 1, behind_final(app) - 1)
    Figures().measure()
    labels = {"network": NETWORK}
    assert REGISTRY.get_sample_value("sweepapi_books_differences", labels) == 1
    assert REGISTRY.get_sample_value("sweepapi_unmatched_events", labels) == 1
    compared_at = REGISTRY.get_sample_value("sweepapi_books_compared_timestamp_seconds", labels)
    assert compared_at == pytest.approx(stored.compared_at.timestamp())


def test_it_is_done_once_a_day_whenever_it_is_asked_for(app: PartnerApp) -> None:
    app.build()
    compare()
    lose_one(app)
    assert compare() == []
    Comparison.objects.update(compared_at=Now() - timedelta(days=1))
    assert [alert["event"] for alert in compare()] == ["books_differ"]


def test_what_is_repaired_is_no_longer_counted(app: PartnerApp) -> None:
    app.build()
    Comparison.objects.create(network=NETWORK, first_block=0, last_block=1, differences=5, compared_at=Now() - DAYS)
    assert compare() == []
    assert Comparison.objects.get().differences == 0


def test_what_the_reconciliation_has_not_read_yet_is_not_compared(app: PartnerApp) -> None:
    app.build()
    app.execute(app.build())
    reconciliation.reconcile()
    app.chain.mine(FINAL_AFTER)
    assert compare() == []


@pytest.mark.usefixtures("no_providers")
def test_without_providers_it_stays_due() -> None:
    assert "comparison_failed" in [alert["event"] for alert in compare()]
    assert not Comparison.objects.exists()


def test_the_last_day_begins_a_day_before_the_final_block_or_a_little_earlier(app: PartnerApp) -> None:
    per_block = 3600
    for _ in range(40):
        app.chain.mine(1, seconds=per_block)
    app.chain.mine(FINAL_AFTER)
    blocks = rereading.last_day(networks.current(), NETWORK, compared=None)
    of_day = rereading.DAY_SECONDS // per_block
    assert of_day <= blocks.last - blocks.first <= 1.3 * of_day + FINAL_AFTER


def test_a_chain_that_is_younger_than_a_day_is_compared_from_its_first_block(app: PartnerApp) -> None:
    app.chain.mine(FINAL_AFTER)
    assert rereading.last_day(networks.current(), NETWORK, compared=None).first == 0


def test_it_goes_on_where_the_last_comparison_ended(app: PartnerApp) -> None:
    app.chain.mine(1)
    for _ in range(3):
        app.chain.mine(1, seconds=rereading.DAY_SECONDS)
    app.chain.mine(FINAL_AFTER)
    of_day = rereading.last_day(networks.current(), NETWORK, compared=None)
    assert rereading.last_day(networks.current(), NETWORK, compared=of_day.first - 3).first == of_day.first - 2
    assert rereading.last_day(networks.current(), NETWORK, compared=of_day.last) == of_day


def test_without_a_block_that_is_settled_it_stays_due(app: PartnerApp) -> None:
    app.build()
    reconciliation.reconcile()
    ScannedBlocks.objects.update(next_block=0)
    assert [alert["event"] for alert in compare()] == ["comparison_failed"]
    assert not Comparison.objects.exists()


def test_one_provider_alone_cannot_move_the_day(start_node: Any, use_providers: Any) -> None:
    honest, lying = start_node(), start_node()
    lying.alter = aging_blocks
    use_providers(honest.url, lying.url)
    with pytest.raises(ChainUnavailableError, match="too few providers show the same"):
        rereading.last_day(networks.current(), NETWORK, compared=None)
