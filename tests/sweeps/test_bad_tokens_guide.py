"""The guide to wallets with bad tokens: its answers are those that the service gives about such a wallet, abridged."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from dev.chain.bad_tokens import MixedWallet, fill_wallet
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

GUIDE = Path(__file__).parents[2] / "docs/site/src/content/docs/guides/bad-tokens.md"
WALLET: str = Account.from_key(keccak(b"first-timer")).address
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
NUMBER = re.compile(r"-?[0-9]+")
READY = {"wallet": {"atomic": "ready"}}
TOLERANCE = 0.1  # gas prices depend on how many blocks the chain has


@pytest.fixture
def mixed(app: PartnerApp) -> MixedWallet:
    return fill_wallet(app.chain.node, app.chain.contracts, app.chain.world["tokens"], WALLET)


def shown_answers() -> list[Any]:
    return [json.loads(block) for block in re.findall(r"```json\n(.+?)\n```", GUIDE.read_text(), re.DOTALL)]


def differences(shown: Any, real: Any, path: str = "$") -> list[str]:
    """Return where an abridged answer says something else than the real one; figures may differ a little."""
    if isinstance(shown, dict) and isinstance(real, dict):
        missing = [f"{path}.{name} does not exist" for name in shown.keys() - real.keys()]
        known = shown.keys() & real.keys()
        return missing + [line for name in known for line in differences(shown[name], real[name], f"{path}.{name}")]
    if isinstance(shown, list) and isinstance(real, list) and len(shown) == len(real):
        pairs = enumerate(zip(shown, real, strict=True))
        return [line for i, pair in pairs for line in differences(*pair, f"{path}[{i}]")]
    same = _is_close(shown, real) if isinstance(shown, str) and isinstance(real, str) else shown == real
    return [] if same else [f"{path}: {shown!r} is shown, and {real!r} is answered"]


def _is_close(shown: str, real: str) -> bool:
    if NUMBER.fullmatch(shown) and NUMBER.fullmatch(real):
        return int(shown) == pytest.approx(int(real), rel=TOLERANCE)
    return shown == ADDRESS.sub("0x…", real)


def test_the_answers_in_the_guide_are_those_of_the_service(app: PartnerApp, mixed: MixedWallet) -> None:
    places = {"chain": app.chain.world["chain"], "wallet": WALLET, "outputMint": app.chain.token("WETH").address}
    request = places | {"candidates": mixed.all, "includeHidden": True, "execution": READY}
    response = app.api.post("/v2/sweep/discover", request, content_type="application/json")
    assert_documented(response, path="/v2/sweep/discover")
    found = response.json()["data"]
    tokens = [{"mint": token["mint"], "amount": token["amount"]} for token in found["tokens"]]
    built = app.build(tokens=tokens, wallet=WALLET, onUnroutable="skip", execution=READY)
    of_discover, of_build = shown_answers()
    assert differences(of_discover, found) == []
    assert differences(of_build, built) == []
    assert [token["mint"] for token in found["tokens"]] == mixed.all


def test_an_answer_that_changed_is_noticed() -> None:
    real = {"verdict": "taxed", "value": "1000", "tokens": [{"reason": None}], "message": f"Of 0x{'ab' * 20}."}
    assert differences({"value": "1050", "tokens": [{}], "message": "Of 0x…."}, real) == []
    assert differences({"value": "1200"}, real) == ["$.value: '1200' is shown, and '1000' is answered"]
    assert differences({"tokens": []}, real) == ["$.tokens: [] is shown, and [{'reason': None}] is answered"]
    assert differences({"tokens": [{"reason": "x"}], "price": 1}, real) == [
        "$.price does not exist",
        "$.tokens[0].reason: 'x' is shown, and None is answered",
    ]
