"""The slippage of router legs must leave them a minimum."""

import pytest
from django.conf import settings
from django.core.checks import run_checks


@pytest.mark.parametrize(("value", "problems"), [(-1, ["evm.E001"]), (0, []), (9_999, []), (10_000, ["evm.E001"])])
def test_a_slippage_that_leaves_no_minimum_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: int, problems: list[str]
) -> None:
    monkeypatch.setattr(settings, "ROUTER_LEG_SLIPPAGE_BPS", value)
    assert [problem.id for problem in run_checks() if str(problem.id).startswith("evm.")] == problems
