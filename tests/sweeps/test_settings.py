"""Settings under which every build would fail or surprise are refused before anything is served."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.checks import CheckMessage

from sweepapi.evm.chain.chains_file import load_chains
from sweeps.checks import check_build_modes, check_build_settings

WALLET = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9"
OFF_CURVE = "Co24yjRpSdUBaycV24uZe9j7PnAqVmdiTrHqesV5U4XT"  # derived by a program, so that no key signs for it


def problems() -> Sequence[CheckMessage]:
    return [*check_build_settings(None), *check_build_modes(None)]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("TOTAL_FEE_BPS", 301, "sweeps.E002"),
        ("TOTAL_FEE_BPS", -1, "sweeps.E002"),
        ("MAX_TOKENS", 31, "sweeps.E003"),
        ("MAX_TOKENS", 0, "sweeps.E003"),
        ("ONCHAIN_CANCELLATIONS_PER_DAY", -1, "sweeps.E012"),
    ],
)
def test_a_setting_under_which_every_build_would_fail_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any, problem: str
) -> None:
    assert problems() == []
    monkeypatch.setattr(settings, name, value)
    assert [found.id for found in problems()] == [problem]


@pytest.mark.parametrize("mode", ["v5_partner_fee", "V4_FALLBACK", " v4_fallback", ""])
def test_a_mode_that_does_not_exist_is_refused_for_all_chains_and_for_one(
    monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(settings, "EVM_BUILD_MODE", mode)
    monkeypatch.setattr(settings, "EVM_BUILD_MODES", {"local": mode})
    modes = "it must be one of v5_partner_fees, v4_fallback."
    assert [found.msg for found in problems()] == [
        f"SERVICE_EVM_BUILD_MODE is {mode!r}; {modes}",
        f"SERVICE_EVM_BUILD_MODE_LOCAL is {mode!r}; {modes}",
    ]


def test_a_node_to_control_is_refused_on_a_live_chain_and_where_the_clock_is_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = settings.CHAINS_FILE.read_text(encoding="utf-8")
    for change, problem in (
        (("sandbox = true\n", ""), "sweeps.E004"),  # it has tokens of the sandbox
        (("recheck_seconds = 3", "recheck_seconds = 3\nmax_head_age_seconds = 60"), "sweeps.E016"),
    ):
        changed = tmp_path / "chains.toml"
        changed.write_text(text.replace(*change), encoding="utf-8")
        monkeypatch.setattr(settings, "CHAINS_FILE", changed)
        assert [found.id for found in problems()] == [problem]
    monkeypatch.setattr(settings, "CHAINS_FILE", settings.BASE_DIR / "config" / "chains.toml")
    monkeypatch.setattr(settings, "SANDBOX_RPC_URLS", {"base": "http://127.0.0.1:1"})
    assert [found.id for found in problems()] == ["sweeps.E015"]


@pytest.mark.parametrize(
    ("setting", "urls", "refused"),
    [
        ("ALCHEMY_URLS", {"bse": "https://node.example/key"}, "ALCHEMY_URL_BSE is set for an unknown chain; "),
        ("BLOCKSCOUT_URLS", {"base": "base.blockscout.com"}, "BLOCKSCOUT_URL_BASE must be a URL."),
        ("BLOCKSCOUT_URLS", {"base": "https://base.blockscout.com/api/v2"}, ""),
    ],
)
def test_the_url_of_a_service_that_would_never_be_asked_is_refused(
    monkeypatch: pytest.MonkeyPatch, setting: str, urls: dict[str, str], refused: str
) -> None:
    monkeypatch.setattr(settings, "CHAINS_FILE", settings.BASE_DIR / "config" / "chains.toml")
    monkeypatch.setattr(settings, setting, urls)
    found = [problem.msg for problem in problems()]
    assert [message.startswith(refused) for message in found] == [True] * bool(refused)
    assert "key" not in str(found)


def test_the_url_of_a_service_that_the_chains_file_does_not_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    changed = tmp_path / "chains.toml"
    shipped = (settings.BASE_DIR / "config" / "chains.toml").read_text(encoding="utf-8")
    changed.write_text(shipped.replace(', "alchemy"', ""), encoding="utf-8")
    monkeypatch.setattr(settings, "CHAINS_FILE", changed)
    monkeypatch.setattr(settings, "ALCHEMY_URLS", {"base": "https://node.example/key"})
    problem = "ALCHEMY_URL_BASE is set, and holdings_sources of base in chains.toml lacks alchemy."
    assert [found.msg for found in problems()] == [problem]


def test_a_mode_for_a_chain_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CHAINS_FILE", settings.BASE_DIR / "config" / "chains.toml")
    monkeypatch.setattr(settings, "EVM_BUILD_MODES", {"base": "v4_fallback", "bse": "v4_fallback"})
    chains = f"the chains of chains.toml are {', '.join(load_chains(settings.CHAINS_FILE))}."
    assert [found.msg for found in problems()] == [f"SERVICE_EVM_BUILD_MODE_BSE is set for an unknown chain; {chains}"]


@pytest.mark.parametrize(
    ("default", "of_chains", "refused"),
    [
        ("v4_fallback", {}, True),
        ("v5_partner_fees", {"local": "v4_fallback"}, True),
        ("v4_fallback", {"local": "v5_partner_fees"}, False),
        ("v5_partner_fees", {}, False),
    ],
)
def test_a_fee_that_differs_from_v4s_is_refused_where_a_chain_is_in_the_fallback(
    monkeypatch: pytest.MonkeyPatch, default: str, of_chains: dict[str, str], *, refused: bool
) -> None:
    monkeypatch.setattr(settings, "EVM_BUILD_MODE", default)
    monkeypatch.setattr(settings, "EVM_BUILD_MODES", of_chains)
    assert problems() == []
    monkeypatch.setattr(settings, "TOTAL_FEE_BPS", 76)
    sentence = (
        "local is in v4_fallback, where its V4 contract determines the fee: "
        "v4_fee_bps is 75 in chains.toml, and TOTAL_FEE_BPS is 76. They must be equal."
    )
    assert [found.msg for found in problems()] == ([sentence] if refused else [])


def test_a_chain_without_contracts_does_not_keep_the_others_from_the_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CHAINS_FILE", settings.BASE_DIR / "config" / "chains.toml")
    monkeypatch.setattr(settings, "RPC_URLS", {"base": ["http://127.0.0.1:1"]})
    monkeypatch.setattr(settings, "EVM_BUILD_MODE", "v4_fallback")
    assert problems() == []


def test_a_chain_without_a_v4_contract_is_not_put_into_the_fallback_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CHAINS_FILE", settings.BASE_DIR / "config" / "chains.toml")
    monkeypatch.setattr(settings, "RPC_URLS", {"base": ["http://127.0.0.1:1"]})
    monkeypatch.setattr(settings, "EVM_BUILD_MODES", {"base": "v4_fallback"})
    sentence = "SERVICE_EVM_BUILD_MODE_BASE is v4_fallback, and chains.toml has no V4 contract of base."
    assert [found.msg for found in problems()] == [sentence]


def test_a_malformed_chains_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chains_file = tmp_path / "chains.toml"
    chains_file.write_text("[chains.base]\n")
    monkeypatch.setattr(settings, "CHAINS_FILE", chains_file)
    assert [found.msg for found in problems()] == [f"{chains_file}: chain 'base': 'chain_id' is missing."]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("SOLANA_FEE_WALLET", "", "sweeps.E009"),
        ("SOLANA_FEE_WALLET", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "sweeps.E009"),
        ("SOLANA_FEE_WALLET", OFF_CURVE, "sweeps.E009"),
        ("SWAP_API_URL", "", "sweeps.E010"),
        ("SWAP_API_URL", "api.example", "sweeps.E010"),
    ],
)
def test_a_cluster_with_providers_needs_a_fee_wallet_and_a_swap_api(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, problem: str
) -> None:
    monkeypatch.setattr(settings, "CLUSTERS_FILE", settings.BASE_DIR / "config" / "clusters.toml")
    monkeypatch.setattr(settings, "SOLANA_FEE_WALLET", WALLET)
    monkeypatch.setattr(settings, "SWAP_API_URL", "https://api.example/swap")
    monkeypatch.setattr(settings, "RPC_URLS", {**settings.RPC_URLS, "solana": ["https://rpc.example"]})
    assert problems() == []
    monkeypatch.setattr(settings, name, value)
    assert [found.id for found in problems()] == [problem]


def test_without_providers_nothing_of_solana_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    without = {name: urls for name, urls in settings.RPC_URLS.items() if name != "solana"}
    monkeypatch.setattr(settings, "RPC_URLS", without)
    monkeypatch.setattr(settings, "SOLANA_FEE_WALLET", "")
    monkeypatch.setattr(settings, "SWAP_API_URL", "")
    assert problems() == []


@pytest.mark.parametrize("name", ["CHAINS_FILE", "CLUSTERS_FILE"])
def test_a_missing_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setattr(settings, name, tmp_path / "missing.toml")
    (problem,) = problems()
    assert problem.msg == f"{tmp_path / 'missing.toml'}: No such file or directory."


def test_a_malformed_clusters_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "clusters.toml"
    file.write_text('[clusters.solana]\ngenesis_hash = "x"')
    monkeypatch.setattr(settings, "CLUSTERS_FILE", file)
    (problem,) = problems()
    assert problem.id == "sweeps.E008"
    assert str(file) in problem.msg
    assert "cluster 'solana'" in problem.msg
