"""Random stories of a sweep, run by the service and by a model of the state table; both must agree at every step."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, get_args
from uuid import UUID

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.db.models import Sum
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from ledger.models import Account, Posting
from sweepapi import networks
from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.errors import SweepApiError, SweepNotVoidable
from sweepapi.evm.encoding.responses import Receipt
from sweepapi.evm.logs.log_search import SearchFinding
from sweepapi.networks import Networks
from sweeps.models import EventKind, Sweep, SweepTransaction
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.registry import RAILS
from sweeps.story import confirm
from sweeps.story.confirm import confirm_sweep
from sweeps.story.withdrawal import void
from tests.factories.partners import requester_of
from tests.factories.sweeps import (
    SweepFactory,
    V4SweepFactory,
    block_at,
    evm_reading,
    executed_log,
    found_cancellation,
    found_execution,
    found_other_use,
    receipt_of,
)
from tests.settling import settle
from tests.snapshots import shown
from tests.sweeps.story_model import FINAL_DEPTH, SAFE_DEPTH, Chain, MinedBlock, Outcome, Rail, Story, View

HASHES = [f"0x{number:064x}" for number in range(1, 14)]
FEE = 7_500
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(get_args(Outcome))
EARLY_STEPS = [
    "an_execution_leaves_the_chain",
    "a_hash_is_confirmed",
    "a_reported_transaction_is_mined",
    "the_worker_checks",
    "the_newest_blocks_are_replaced",
    "blocks_are_mined",
    "any_transaction_is_mined",
    "a_mined_hash_is_confirmed",
    "many_hashes_are_confirmed",
    "an_old_reading_arrives_late",
    "final_blocks_are_reconciled",
]
# The steps that can end a story come late, so that stories get long.
LATE = 2
LATE_STEPS = [*["time_passes_the_deadline"] * 2, "it_is_cancelled_on_chain", "operators_void_it"]
# For `make random-stories`, which runs more.
EXAMPLES, STEPS = int(os.environ.get("STORIES", "12")), 30


class Storyteller(RuleBasedStateMachine):
    """One sweep of V5, the chain that it may happen on, and the model."""

    rail: Rail = "evm_v5"
    factory: type[SweepFactory] = SweepFactory
    late_steps = LATE_STEPS

    @initialize()
    def build(self) -> None:
        self.sweep = self.factory.create()
        self.chain = Chain(deadline=100)
        self.story = Story(self.rail)
        self.views: list[View] = []

    @rule(data=st.data())
    def take_a_step(self, data: st.DataObject) -> None:
        """Take one of all possible steps; if each were a rule, hypothesis would leave some out of each story."""
        if not self.story.is_open and data.draw(st.sampled_from([True, True, False])):
            self.build()  # the next story; the events of this one were compared
        is_late = self.chain.head.number >= LATE
        steps = [*EARLY_STEPS, *self.late_steps] if is_late else EARLY_STEPS
        getattr(self, data.draw(st.sampled_from(steps)))(data)

    # --- What happens on chain ----------------------------------------------------------------------------------------

    def a_reported_transaction_is_mined(self, data: st.DataObject) -> None:
        reported = [tx_hash for tx_hash in self.story.candidates if self.chain.find(tx_hash) is None]
        if reported:
            self._mine(data.draw(st.sampled_from(reported)), data.draw(OUTCOMES))

    def any_transaction_is_mined(self, data: st.DataObject) -> None:
        self._mine(data.draw(st.sampled_from(HASHES)), data.draw(OUTCOMES))

    def _mine(self, tx_hash: str, outcome: Outcome) -> None:
        """Mine it if a chain could: a hash is in it once, and the identity is used once."""
        uses = outcome in ("executed", "wrong_fee")
        if self.chain.find(tx_hash) is None and (not uses or (self._is_unused() and self._is_executable())):
            self.chain.mine({tx_hash: outcome})

    def _is_executable(self) -> bool:
        return self.chain.head.timestamp < self.chain.deadline

    def _is_unused(self) -> bool:
        return self.chain.use_of_nonce(up_to=self.chain.head.number) is None

    def blocks_are_mined(self, data: st.DataObject) -> None:
        self._mine_blocks(data.draw(st.integers(1, 5)))

    def _mine_blocks(self, blocks: int) -> None:
        for _ in range(blocks):
            self.chain.mine()

    def time_passes_the_deadline(self, data: st.DataObject) -> None:
        self.chain.mine(seconds=101)
        self._mine_blocks(SAFE_DEPTH)
        self.the_worker_checks(data)

    def it_is_cancelled_on_chain(self, data: st.DataObject) -> None:
        if self._is_unused():
            self.chain.mine(cancels=True)
            self._mine_blocks(data.draw(st.integers(0, SAFE_DEPTH)))
            self.the_worker_checks(data)

    def the_newest_blocks_are_replaced(self, data: st.DataObject) -> None:
        depth = data.draw(st.integers(1, SAFE_DEPTH))
        if self.chain.head.number > depth:
            self.the_worker_checks(data)
            self.chain.reorganise(depth)
            self.the_worker_checks(data)

    def an_execution_leaves_the_chain(self, data: st.DataObject) -> None:
        """Several candidates, one of which is executed and seen, and then leaves the chain."""
        executed, *others = data.draw(st.lists(st.sampled_from(HASHES), min_size=2, max_size=3, unique=True))
        for tx_hash in (executed, *others):
            self._confirm_and_compare(tx_hash, agreed=True)
        if self._is_unused() and self.chain.find(executed) is None:
            self._mine(executed, "executed")
            self.the_worker_checks(data)
            self.chain.reorganise(1)
            self.the_worker_checks(data)

    # --- Reports and looks --------------------------------------------------------------------------------------------

    def a_hash_is_confirmed(self, data: st.DataObject) -> None:
        self._confirm_and_compare(data.draw(st.sampled_from(HASHES)), agreed=data.draw(st.booleans()))

    def a_mined_hash_is_confirmed(self, data: st.DataObject) -> None:
        mined = [tx_hash for block in self.chain.blocks for tx_hash in block.transactions]
        if mined:
            self._confirm_and_compare(data.draw(st.sampled_from(mined)), agreed=True)

    def many_hashes_are_confirmed(self, data: st.DataObject) -> None:
        start = data.draw(st.integers(0, len(HASHES) - 7))
        if len(self.story.candidates) not in range(3, 11):
            return
        for tx_hash in HASHES[start : start + 7]:
            self._confirm_and_compare(tx_hash, agreed=True)

    def _confirm_and_compare(self, tx_hash: str, *, agreed: bool) -> None:
        refusal = self.story.report(tx_hash)
        is_settled = self.story.status == "completed"
        view = self._view(agreed=agreed, searches=False)
        if not refusal and not is_settled:
            self.story.check(view)
            refusal = self.story.answer(tx_hash)
        with scripted(self.rail, self._reading(view)):
            assert self._confirm(tx_hash) == refusal

    def the_worker_checks(self, data: st.DataObject) -> None:
        view = self._view(agreed=data.draw(st.sampled_from([True, True, False])))
        self.views.append(view)
        self._settle(view)

    def an_old_reading_arrives_late(self, data: st.DataObject) -> None:
        if self.views:
            self._settle(data.draw(st.sampled_from(self.views)))

    def final_blocks_are_reconciled(self, _data: st.DataObject) -> None:
        final = max(self.chain.head.number - FINAL_DEPTH, 0)
        use = self.chain.use_of_nonce(up_to=final)
        if use is None or not use[0] or self.story.accepted_at is not None:
            return  # a scan reads executions only, and leaves out those that are known
        view = replace(self._view(agreed=True), mined={}, found=use, is_used=True, has_run_out=False)
        self.story.reconcile(view)
        settle(sweep_id=self.sweep.id, reading=replace(self._reading(view), is_final=True))

    def operators_void_it(self, _data: st.DataObject) -> None:
        is_voided = self.story.void()
        try:
            void(sweep_id=self.sweep.id, reason="test", requested_by="ops")
        except SweepNotVoidable:
            assert not is_voided
        else:
            assert is_voided

    # --- What must hold at every step ---------------------------------------------------------------------------------

    @invariant()
    def it_agrees_with_the_state_table(self) -> None:
        sweep = self._stored()
        candidates = {tx.tx_hash: tx.status for tx in sweep.transactions.all()}
        assert (sweep.status, sweep.is_open, candidates) == (
            self.story.status,
            self.story.is_open,
            self.story.candidates,
        )
        assert sweep.executions.get().booking_epoch == self.story.epoch
        assert ("executed_after_close" in sweep.flags) == self.story.is_late

    @invariant()
    def the_books_hold_the_fee_exactly_while_it_is_completed(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        charged = Posting.objects.filter(
            entry__sweep_ref=self.sweep.id, account__name=Account.Name.FEES_CHARGED
        ).aggregate(total=Sum("amount"))["total"]
        assert int(charged or 0) == (FEE if self.story.status == "completed" else 0)

    @invariant()
    def the_events_tell_every_status_in_sequence(self) -> None:
        sweep = self._stored()
        events = list(sweep.events.all())
        assert [event.sequence for event in events] == list(range(2, sweep.last_event + 1))
        moves = [event for event in events if event.kind == EventKind.STATUS]
        before = ["pending", *(move.to_status for move in moves)]
        assert [move.from_status for move in moves] == before[:-1]
        assert before[-1] == sweep.status

    @invariant()
    def its_partner_sees_the_status_that_is_stored(self) -> None:
        stored = Sweep.objects.get(id=self.sweep.id)
        state = shown(stored)
        assert (state["status"], state["open"], len(state["events"])) == (
            stored.status,
            stored.is_open,
            stored.events.count(),
        )

    # --- Translating --------------------------------------------------------------------------------------------------

    def _stored(self) -> Sweep:
        return Sweep.objects.get(id=self.sweep.id)

    def _view(self, *, agreed: bool, searches: bool = True) -> View:
        accepted = self.story.accepted_at
        height = accepted.number if accepted is not None else None
        return self.chain.read(self.story.followed, height, agreed=agreed, searches=searches)

    def _settle(self, view: View) -> None:
        self.story.check(view)
        settle(sweep_id=self.sweep.id, reading=self._reading(view))

    def _confirm(self, tx_hash: str) -> str:
        try:
            confirm_sweep(
                networks.current(),
                requester=requester_of(self.sweep.partner),
                sweep_id=self.sweep.id,
                tx_hashes=[tx_hash],
            )
        except SweepApiError as error:
            return ERROR_TABLE[type(error)].code
        return ""

    def _reading(self, view: View) -> EvmReading:
        finding = self._finding(*view.found, agreed=view.agreed) if view.found is not None else None
        canonical = view.canonical
        return evm_reading(
            *(self._receipt(tx_hash, *mined) for tx_hash, mined in view.mined.items()),
            finding=finding,
            head_number=view.head,
            safe_number=view.safe,
            final_number=view.final,
            canonical=block_at(canonical.number, fork=canonical.fork) if canonical is not None else None,
            state=view.is_used,
            safe_timestamp=int(self.sweep.deadline.timestamp()) + (1 if view.has_run_out else 0),
            agreed=view.agreed,
        )

    def _finding(self, tx_hash: str, block: MinedBlock, *, agreed: bool) -> SearchFinding:
        if not tx_hash:
            return found_cancellation("0x" + "cA" * 20, agreed=agreed)
        return found_execution(self._receipt(tx_hash, block.transactions[tx_hash], block))

    def _receipt(self, tx_hash: str, outcome: Outcome, block: MinedBlock) -> Receipt:
        logs = {"executed": [executed_log(self.sweep)], "wrong_fee": [executed_log(self.sweep, total_fee=FEE - 1)]}
        receipt = receipt_of(
            SweepTransaction(tx_hash=tx_hash),
            *logs.get(outcome, []),
            succeeded=outcome != "reverted",
            block=block.number,
        )
        return replace(receipt, block_hash=block_at(block.number, fork=block.fork).hash)


class V4Storyteller(Storyteller):
    """The same for V4: the service can't cancel, and users may execute with permits of their own at any time."""

    rail = "evm_v4"
    factory = V4SweepFactory
    late_steps = ["time_passes_the_deadline", *["it_is_executed_late"] * 3, "operators_void_it"]

    def _is_executable(self) -> bool:
        return True

    def it_is_executed_late(self, data: st.DataObject) -> None:
        """The permit of the service runs out, and then the user executes the reference with another one."""
        self.time_passes_the_deadline(data)
        outcome: Outcome = data.draw(st.sampled_from(["executed", "executed", "wrong_fee"]))
        self._mine(data.draw(st.sampled_from(HASHES)), outcome)
        self._mine_blocks(data.draw(st.integers(FINAL_DEPTH - 1, FINAL_DEPTH)))
        self.final_blocks_are_reconciled(data)

    def _finding(self, tx_hash: str, block: MinedBlock, *, agreed: bool) -> SearchFinding:
        if block.transactions[tx_hash] == "wrong_fee":
            return found_other_use(self.sweep, self._receipt(tx_hash, "wrong_fee", block), agreed=agreed)
        return super()._finding(tx_hash, block, agreed=agreed)


@contextmanager
def scripted(rail_name: str, reading: EvmReading) -> Iterator[None]:
    """Let the next check of a confirm return this, instead of reading a chain."""
    rail = RAILS[rail_name]

    class ScriptedRail(type(rail)):  # type: ignore[misc]
        def read(
            self, _registry: Networks, network: str, followed: Sequence[Any], *, timeout_seconds: float | None = None
        ) -> Iterator[list[tuple[UUID, EvmReading]]]:
            assert (network, timeout_seconds) == ("eip155:31337", django_settings.CONFIRM_TIMEOUT_SECONDS)
            yield [(one.sweep_id, reading) for one in followed]

        def explain_revert(self, _registry: Networks, tx: SweepTransaction, *, timeout_seconds: float) -> list[Any]:
            assert (tx.status, timeout_seconds > 0) == ("reverted", True)
            return []

    RAILS[rail_name] = ScriptedRail()
    try:
        yield
    finally:
        RAILS[rail_name] = rail


@pytest.mark.django_db
@pytest.mark.parametrize("storyteller", [Storyteller, V4Storyteller])
def test_random_stories_follow_the_state_table(monkeypatch: pytest.MonkeyPatch, storyteller: type[Storyteller]) -> None:
    monkeypatch.setattr(confirm, "wake", lambda *_args, **_options: None)  # messages change no state
    story = settings(max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, derandomize=True, database=None)
    run_state_machine_as_test(storyteller, settings=story)
