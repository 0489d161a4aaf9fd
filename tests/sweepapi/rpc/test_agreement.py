"""Two providers decide, however many others say something else, as long as no two others agree on that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from sweepapi.rpc.agreement import Decision, Opinion, decide, report
from tests.sweepapi.rpc.calls import pool_of

POOL = pool_of("http://a", "http://b", "http://c", "http://d", "http://e")


def decided(*conclusions: str | None, needed: int = 2) -> Decision[str]:
    """Decide between these, given by the providers in their order."""
    opinions = [Opinion(one, said) for one, said in zip(POOL.providers, conclusions, strict=False)]
    return decide(opinions, needed=needed)


@pytest.mark.parametrize(
    ("said", "conclusion", "dissenters"),
    [
        ([], None, []),
        ([None, None], None, []),
        (["a"], None, []),
        (["a", None], None, []),
        (["a", "a"], "a", []),
        (["a", "b"], None, [0, 1]),
        (["a", None, "b"], None, [0, 2]),
        (["a", "b", "b"], "b", [0]),
        (["a", "b", "a"], "a", [1]),
        (["a", None, "a"], "a", []),
        (["a", "b", "c"], None, [0, 1, 2]),
        (["a", "b", "a", "b"], None, [0, 2, 1, 3]),
        (["a", "b", "a", "b", "b"], "b", [0, 2]),
        (["a", "b", "c", "c"], "c", [0, 1]),
    ],
)
def test_two_that_say_the_same_decide(said: list[str | None], conclusion: str | None, dissenters: list[int]) -> None:
    decision = decided(*said)
    assert decision.conclusion == conclusion
    assert [one.position for one in decision.dissenters] == dissenters


def test_a_single_provider_decides_where_there_is_no_other() -> None:
    assert decided("a", needed=1).conclusion == "a"


@given(st.lists(st.sampled_from(["truth", "lie", None]), max_size=5))
def test_one_liar_never_decides_and_never_stops_two_that_say_the_truth(said: list[str | None]) -> None:
    if said.count("lie") <= 1:
        assert decided(*said).conclusion == ("truth" if said.count("truth") > 1 else None)


def test_a_disagreement_is_an_alert_that_names_the_providers_and_who_was_outvoted() -> None:
    before = [one.outvoted for one in POOL.state]
    with capture_logs() as logs:
        report(POOL, decided("a", "b"), subject="sweep")
        report(POOL, decided("a", "b", "b"), subject="sweep")
        report(POOL, decided("a", "a", None), subject="sweep")
    undecided, outvoted = logs
    assert undecided == {
        "event": "providers_disagree",
        "log_level": "error",
        "network": "eip155:31337",
        "subject": "sweep",
        "providers": [0, 1],
        "outvoted": [],
    }
    assert (outvoted["providers"], outvoted["outvoted"]) == ([0, 1, 2], [0])
    assert [one.outvoted - earlier for one, earlier in zip(POOL.state, before, strict=True)] == [1, 0, 0, 0, 0]
