"""Every operation answers made-up requests as the OpenAPI document says."""

import os
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from tests.fuzzing import fuzz, with_values, without_repeated_keys
from tests.partner_app import PartnerApp
from tests.solana_user import SolanaUser

# For `make fuzz-api`, which runs for longer.
MAX_EXAMPLES, SEED = int(os.environ.get("FUZZ_EXAMPLES", "5")), int(os.environ.get("FUZZ_SEED", "13"))
# Which links are followed depends on the ids that the service makes up; it was about half of the 30.
LEAST_LINKS = 5
SUMMARY = Path(django_settings.BASE_DIR) / "var" / "fuzz-api.json"
BONK = "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"


@pytest.fixture
def values(app: PartnerApp, user: SolanaUser) -> dict[str, str]:
    """What the local chains have instead of what the document's examples name."""
    return {
        "base": app.chain.world["chain"],
        "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF": app.user.address,
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913": app.chain.token("USDC").address,
        "0x4200000000000000000000000000000000000006": app.chain.token("WETH").address,
        "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb": app.chain.token("DAI").address,
        "9VMqTbzWzv4T8Y6sk8oopessZq1vcUWS5LbgDymZRkoa": str(user.key),
        "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v": str(user.cluster.usdc),
        BONK: str(user.hold(5_000_000_000)),
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("unmeasured")
def test_nothing_is_found(
    live_server: LiveServer, api_key: str, anonymous: Client, values: dict[str, str], settings: Settings
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = False  # as the document says
    document = without_repeated_keys(anonymous.get("/v2/openapi.json").json())
    findings = fuzz(live_server.url, with_values(document, values), key=api_key, max_examples=MAX_EXAMPLES, seed=SEED)
    SUMMARY.parent.mkdir(exist_ok=True)
    SUMMARY.write_text(findings.summary())
    assert findings.problems == {}
    operations = {f"{method.upper()} {path}" for path, each in document["paths"].items() for method in each}
    assert findings.statuses.keys() >= operations
    assert len(findings.followed) >= LEAST_LINKS
