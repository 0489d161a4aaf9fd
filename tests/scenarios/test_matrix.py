"""The matrix of lies (``lab/matrix``): whichever provider lies, nothing is concluded that another one contradicts.

Nothing waits: what was shown is made older in the database.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

import pytest
from prometheus_client import REGISTRY
from pytest_django import DjangoCaptureOnCommitCallbacks

from indexer import following, reconciliation
from lab.matrix.fates import WHO
from lab.matrix.mutations import BELIEVED, HONEST, MUTATIONS, NEVER_WRONG, Mutation, Right
from sweeps.models import ChainHead
from tests.factories.sweeps import LOCAL
from tests.partner_app import PartnerApp
from tests.scenarios.column import Column

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("late_ones_are_waited_for")]

Rights = Callable[[Mutation], Collection[Right]]

ONE_WORD_SECONDS = 10
HAPPENED = [one for one in MUTATIONS if one.happened]
each_liar = pytest.mark.parametrize("who", WHO)


def apart(is_alone: Callable[[Mutation], bool]) -> Iterator[Sequence[Mutation]]:
    """Yield the lies that can be told together, and each of the others."""
    yield [one for one in MUTATIONS if not is_alone(one)]
    yield from ([one] for one in MUTATIONS if is_alone(one))


def wrong(column: Column, mutations: Sequence[Mutation], right: Rights) -> list[str]:
    fates = column.fates(mutations)
    return [f"{one.name}: {fates[one.name]}" for one in mutations if fates[one.name].right not in right(one)]


def has_honest(who: str) -> bool:
    return not all(WHO[who])


def found_by_event(right: Right, who: str) -> Collection[Right]:
    return NEVER_WRONG if has_honest(who) else {right}


def set_right(column: Column, who: str) -> list[str]:
    """Let providers tell the truth, and return what is wrong then.

    One check does for what was not believed, and its webhooks and entries are those of an execution that every provider
    showed from the start. What was believed is right once it is final.
    """
    believed = {name for name, fate in column.fates(MUTATIONS).items() if fate.right in BELIEVED}
    assert not (believed and has_honest(who)), believed
    not_believed = [one for one in HAPPENED if one.name not in believed]
    with column.showing(MUTATIONS, lies=False):
        column.check(MUTATIONS)
        following.follow()
        found = wrong(column, not_believed, lambda _: {HONEST})
        column.finalize()
        for _ in range(2):  # what was accepted is undone, and then checked again
            column.check(MUTATIONS)
            reconciliation.reconcile()
    found += wrong(column, HAPPENED, lambda _: {HONEST})
    for name, fate in column.fates(not_believed).items():
        if (fate.messages, fate.entries) != (("sweep.completed", "sweep.finalized"), ("sweep_fee",)):
            found.append(f"{name}: {fate}")
    for name, fate in column.fates([one for one in MUTATIONS if not one.happened]).items():
        expected = (("sweep.completed", "sweep.reversed"), ("sweep_fee", "reversal")) if name in believed else ((), ())
        if (fate.messages, fate.entries) != expected:
            found.append(f"{name}: {fate}")
    return found


@each_liar
def test_a_confirm_says_what_it_awaits_and_concludes_nothing_that_is_contradicted(app: PartnerApp, who: str) -> None:
    found = []
    with Column.of(app, who, MUTATIONS) as column:
        for one in MUTATIONS:
            right = one.asked(who)
            with column.showing([one], lies=True):
                status, said = column.confirm(one)
            if status != 200 and not (status == 202 and right == f"waits for {said}"):
                found += [] if right in BELIEVED and status in (409, 422) else [f"{one.name}: {status} {said}"]
            found += wrong(column, [one], lambda one: {one.asked(who)})
        assert found == []
        assert set_right(column, who) == []


@each_liar
def test_the_worker_concludes_as_a_confirm_does_and_believes_one_word_after_ten_seconds(
    app: PartnerApp, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, who: str
) -> None:
    found = []
    before = on_one_word()
    with Column.of(app, who, MUTATIONS) as column:
        column.report(MUTATIONS)
        for group in apart(lambda one: one.is_of_a_batch):
            with column.showing(group, lies=True):
                column.check(group)
                found += wrong(column, group, lambda one: {one.asked(who)})
                if has_honest(who):
                    column.wait(group, ONE_WORD_SECONDS - 1)
                    column.check(group)
                    found += wrong(column, group, lambda one: {one.beside})
                    column.wait(group, 1)
                    with django_capture_on_commit_callbacks(execute=True):
                        column.check(group)
                    found += wrong(column, group, lambda one: {HONEST if one.is_silent else one.beside})
        assert found == []
        silent = [one for one in MUTATIONS if one.is_silent and has_honest(who)]
        assert on_one_word() - before == len(silent)
        assert set_right(column, who) == []


def on_one_word() -> float:
    return REGISTRY.get_sample_value("sweepapi_acceptances_on_one_word_total", {"network": LOCAL}) or 0


@each_liar
def test_the_follower_finds_what_happened_or_nothing_yet(app: PartnerApp, who: str) -> None:
    found = []
    with Column.of(app, who, MUTATIONS) as column:
        for group in apart(lambda one: one.is_of_a_query):
            ChainHead.objects.all().delete()
            with column.showing(group, lies=True):
                following.follow()
            found += wrong(column, group, lambda one: found_by_event(one.follower, who))
        assert found == []
        assert set_right(column, who) == []


@each_liar
def test_the_reconciliation_finds_what_happened_or_nothing_yet(app: PartnerApp, who: str) -> None:
    found = []
    with Column.of(app, who, MUTATIONS) as column:
        for group in apart(lambda one: one.is_of_a_query):
            column.finalize()
            with column.showing(group, lies=True):
                reconciliation.reconcile()
            found += wrong(column, group, lambda one: found_by_event(one.reconciliation, who))
        assert found == []
        if has_honest(who):
            assert set_right(column, who) == []
