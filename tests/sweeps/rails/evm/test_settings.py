"""The slippage of router legs must leave them a minimum, and a price impact must lead to a warning before a refusal."""

import pytest
from django.conf import settings
from django.core.checks import run_checks


@pytest.mark.parametrize(("value", "problems"), [(-1, ["evm.E001"]), (0, []), (9_999, []), (10_000, ["evm.E001"])])
def test_a_slippage_that_leaves_no_minimum_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: int, problems: list[str]
) -> None:
    monkeypatch.setattr(settings, "ROUTER_LEG_SLIPPAGE_BPS", value)
    assert [problem.id for problem in run_checks() if str(problem.id).startswith("evm.")] == problems


@pytest.mark.parametrize(
    ("warning", "refusal", "problems"),
    [
        (0, 0, []),
        (300, 1_500, []),
        (10_000, 10_000, []),
        (301, 300, ["evm.E002"]),
        (-1, 300, ["evm.E002"]),
        (300, 10_001, ["evm.E002"]),
    ],
)
def test_settings_that_refuse_an_impact_without_a_warning_below_it_are_refused(
    monkeypatch: pytest.MonkeyPatch, warning: int, refusal: int, problems: list[str]
) -> None:
    monkeypatch.setattr(settings, "PRICE_IMPACT_WARNING_BPS", warning)
    monkeypatch.setattr(settings, "PRICE_IMPACT_REFUSAL_BPS", refusal)
    assert [problem.id for problem in run_checks() if str(problem.id).startswith("evm.")] == problems
