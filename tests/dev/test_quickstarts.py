"""Every block that a reader of a quickstart can copy is run as the page shows it, in order, in an empty folder."""

from pathlib import Path

import pytest
from django.test import Client

from dev.world import exported
from sweepapi.api.openapi import site
from sweeps.models import Sweep
from tests.dev.snippets import blocks_of, run
from tests.documentation import build
from tests.local_chain import LocalChain

QUICKSTARTS = ("typescript", "python", "curl")
MAX_OWN_LINES = 40
MOST_WEI_OF_GAS = 5 * 10**9

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def documentation(snippets: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The site, built with these variables."""
    variables = tmp_path / "world.env"
    variables.write_text(exported(snippets))
    monkeypatch.setattr(site, "FOLDER", build(tmp_path, WORLD_ENV=str(variables)))


@pytest.mark.usefixtures("documentation")
def test_each_quickstart_sweeps(anonymous: Client, tmp_path: Path, chain: LocalChain) -> None:
    for done, name in enumerate(QUICKSTARTS, start=1):
        blocks = blocks_of(anonymous.get(f"/docs/quickstarts/{name}/").content.decode())
        own = [line for block in blocks if block.title for line in block.content.splitlines() if line.strip()]
        assert 0 < len(own) <= MAX_OWN_LINES, f"{name} has {len(own)} lines"
        printed = run(blocks, tmp_path / name, {})
        assert "completed" in printed, name
        assert Sweep.objects.filter(status="completed").count() == done
        assert paid_prices(chain), name
        assert max(paid_prices(chain)) < MOST_WEI_OF_GAS, f"{name} pays more for gas than its offer says"


def paid_prices(chain: LocalChain) -> list[int]:
    """Return what the transactions of the last block paid for a unit of gas."""
    block = chain.web3.eth.get_block("latest", full_transactions=False)
    return [chain.web3.eth.get_transaction_receipt(sent)["effectiveGasPrice"] for sent in block["transactions"]]  # type: ignore[arg-type]
