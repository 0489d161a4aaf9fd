"""The lists of operators filter by what the service knows, and read no large table from end to end for that."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.factories.sweeps import SweepFactory
from tests.operator_browser import reverse

pytestmark = pytest.mark.django_db


def test_sweeps_are_filtered_by_network_and_rail(ops: Client) -> None:
    sweep = SweepFactory.create()
    lists = reverse("admin:sweeps_sweep_changelist")

    def shown(**query: str) -> list[object]:
        return list(ops.get(lists, query).context["cl"].result_list)

    assert shown(network__exact=sweep.network, built_by="evm_v5") == [sweep]
    assert shown(network__exact="eip155:8453") == []
    assert shown(built_by="evm_v4") == []
    page = ops.get(lists, {"network__exact": sweep.network}).content.decode()
    assert f"network__exact={sweep.network.replace(':', '%3A')}" in page


def test_no_list_asks_for_the_values_that_a_column_has(ops: Client) -> None:
    for name in ("sweeps_sweep", "ledger_journalentry", "ledger_account", "ledger_payout", "evm_unmatchedevent"):
        with CaptureQueriesContext(connection) as asked:
            ops.get(reverse(f"admin:{name}_changelist"))
        assert [one["sql"] for one in asked if "DISTINCT" in one["sql"] and "network" in one["sql"]] == [], name
