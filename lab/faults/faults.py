"""The faults: mistakes that cost someone money, or tell partners what is not so, and the test that notices each."""

from dataclasses import dataclass


class NotAnchoredError(Exception):
    """The text that a fault replaces is not there exactly once; it has to follow the code."""


@dataclass(frozen=True)
class Fault:
    """A mistake in the product: a text of a file, and what replaces it."""

    name: str
    means: str  # to partners, users or us
    file: str
    old: str
    new: str
    test: str  # pytest's id; of a parametrized test without parameters it means all of them

    def apply(self, source: str) -> str:
        """Return the file with the fault; raises ``NotAnchoredError``."""
        count = source.count(self.old)
        if count != 1:
            raise NotAnchoredError(f"{self.name}: its text occurs {count} times in {self.file}")
        return source.replace(self.old, self.new)


FAULTS = (
    # --- building and signing -----------------------------------------------------------------------------------------
    Fault(
        "a floor rounded up",
        "The user signs a floor that the pool's own minimum does not reach, so the sweep reverts and its gas is lost.",
        "sweepapi/fees.py",
        "return floor_share(min_output, BPS_DENOMINATOR - self.total_fee_bps)",
        "return -(-min_output * (BPS_DENOMINATOR - self.total_fee_bps) // BPS_DENOMINATOR)",
        "tests/sweepapi/evm/routes/test_floors.py"
        "::test_the_contract_accepts_an_output_for_the_floor_that_follows_from_it",
    ),
    Fault(
        "slippage taken for the minimum",
        "The user signs one percent of the quote as enough, and anyone who trades around the sweep takes the rest.",
        "sweepapi/evm/routes/minimums.py",
        "quoted = floor_share(expected, BPS_DENOMINATOR - self._slippage_bps(token))",
        "quoted = floor_share(expected, self._slippage_bps(token))",
        "tests/sweepapi/evm/routes/test_minimums.py::test_a_pool_leg_may_give_less_than_quoted_by_the_slippage",
    ),
    Fault(
        "terms signed that are not stored",
        "A mistake anywhere in a build is signed, and the contract pays the fee to whom it names.",
        "sweeps/rails/evm_v5/issuing.py",
        "    if differences:\n",
        "    if differences and renewed is not None:\n",
        "tests/sweeps/rails/evm_v5/test_signing.py::test_terms_that_are_not_stored_are_named_and_not_signed",
    ),
    # --- matching -----------------------------------------------------------------------------------------------------
    Fault(
        "a fee share read from now",
        "A new share changes what partners are owed for sweeps that were built under the one before.",
        "sweeps/protocol/rail.py",
        "return cls(**{term.name: getattr(sweep, term.name) for term in fields(cls)})",
        "return cls.of_today(Partner.objects.get(id=sweep.partner_id), sweep.protocol_recipient)",
        "tests/sweeps/test_fee_shares.py::test_a_partner_that_is_paid_later_is_owed_the_share_of_the_build",
    ),
    Fault(
        "a payment to another wallet matched",
        "A sweep that paid someone else counts as the partner's, whose statement says that it was paid.",
        "sweeps/rails/evm_v5/terms.py",
        '            "partnerRecipient": (event.partner_recipient, self.fees.partner_recipient),\n',
        "",
        "tests/sweeps/rails/evm_v5/test_deciding.py::test_an_event_that_differs_in_one_field_does_not_match",
    ),
    Fault(
        "an event believed from any contract",
        "Anyone can deploy a contract that says a sweep was executed, and the partner is credited a fee.",
        "sweeps/rails/evm/follow/followed.py",
        "emitted = receipt.emitted_by(self.contract)\n",
        "emitted = receipt.logs\n",
        "tests/sweeps/rails/evm_v5/test_deciding.py::test_a_matching_event_of_another_contract_does_not_count",
    ),
    Fault(
        "a transaction with other instructions believed",
        "A transaction that also takes the output away from the user counts as the sweep that was built.",
        "sweeps/rails/solana_v1/follow/followed.py",
        "return landed.instructions == self.instructions",
        "return all(one in landed.instructions for one in self.instructions)",
        "tests/sweeps/rails/solana_v1/test_recognition.py::test_another_instruction_is_rejected",
    ),
    # --- settling -----------------------------------------------------------------------------------------------------
    Fault(
        "a column not written",
        "The sweep forgets which entry booked its fee, so a reorganisation reverses nothing.",
        "sweeps/store/stored.py",
        "if now[name] != before[name]]",
        'if now[name] != before[name] and name != "ledger_entry_id"]',
        "tests/sweeps/store/test_stored_sweeps.py::test_every_column_that_changes_is_written",
    ),
    Fault(
        "an event not appended",
        "A sweep closes without an event: its history ends early, and no webhook says that it is final.",
        "sweeps/store/transitions.py",
        "    note(stored, EventKind.CLOSED)\n",
        "",
        "tests/sweeps/store/test_messages.py::test_each_change_that_partners_wait_for_is_written_once",
    ),
    Fault(
        "a lease not checked",
        "A check that was frozen for minutes writes what it saw then over what its successor has seen since.",
        "sweeps/story/settle.py",
        "if lease in (None, locked[one.stored.id].mark.lease):",
        "if one.stored.id in locked:",
        "tests/sweeps/settle/test_sets.py::test_a_sweep_whose_lease_was_lost_is_left_to_its_new_holder",
    ),
    Fault(
        "an entry posted twice",
        "Each fee is booked twice, under two epochs, and the partner is owed double.",
        "sweeps/story/executions.py",
        "self.stored.fees.append(fee)",
        "again = {'entry_id': type(fee.entry_id)(int=fee.entry_id.int + 1), 'booking_epoch': fee.booking_epoch + 1}\n"
        "        self.stored.fees += [fee, posting.SweepFee(**vars(fee) | again)]",
        "tests/sweeps/settle/test_receipts.py::test_a_matching_event_completes_the_sweep_and_books_it_to_the_unit",
    ),
    Fault(
        "a fee final as soon as it is booked",
        "The partner's part can be paid out before its block is final, and a reorganisation leaves a debt.",
        "sweeps/story/executions.py",
        "self.stored.fees.append(fee)",
        "self.stored.fees.append(fee)\n        self.stored.final_entries.append(fee.entry_id)",
        "tests/sweeps/settle/test_payables.py"
        "::test_the_partners_part_is_available_when_the_worker_sees_its_block_final",
    ),
    # --- finality, reorganisations, expiry ----------------------------------------------------------------------------
    Fault(
        "a receipt believed from one provider at finality",
        "One provider that lies closes a sweep for good that was never executed, and its fee is paid out.",
        "sweeps/rails/evm/follow/deciding.py",
        "if depth in (Depth.GONE, Depth.FINAL) and not sighting.agreed:",
        "if depth is Depth.GONE and not sighting.agreed:",
        "tests/sweeps/settle/test_accepted.py"
        "::test_the_receipt_that_one_provider_shows_in_a_final_block_closes_nothing",
    ),
    Fault(
        "a block final for one provider",
        "As above, for all sweeps that rest on a watched block, which is how nearly all of them close.",
        "sweepapi/evm/logs/block_views.py",
        "if len(final) >= needed and len(final) > against:",
        "if final and len(final) > against:",
        "tests/indexer/test_blocks.py::test_one_provider_alone_makes_nothing_final",
    ),
    Fault(
        "a reorganisation not reversed",
        "The fee of a sweep that left the chain stays booked, and is booked again when the sweep is mined again.",
        "sweeps/story/executions.py",
        "self._reverse(JournalEntry.objects.get(id=execution.ledger_entry_id))",
        "pass",
        "tests/sweeps/settle/test_accepted.py::test_a_sweep_that_is_mined_again_is_booked_again",
    ),
    Fault(
        "an expiry on the word of one provider",
        "A provider that lags or lies expires a sweep that the user has executed.",
        "sweeps/rails/evm/follow/deciding.py",
        "elif sighting.agreed and followed.is_proven_unused(sighting):",
        "elif followed.is_proven_unused(sighting):",
        "tests/sweeps/settle/test_endings.py::test_nothing_is_closed_unless_a_second_provider_agrees",
    ),
    # --- what partners receive and reach ------------------------------------------------------------------------------
    Fault(
        "a webhook sent before commit",
        "A partner is notified of a completion that is rolled back, and hands over goods.",
        "sweeps/store/writing.py",
        "        Insert(WebhookMessage, messages),\n    )\n",
        "    )\n"
        "    from threading import Thread\n\n"
        "    early = Thread(target=lambda: (write_rows(Insert(WebhookMessage, messages)), connection.close()))\n"
        "    early.start()\n"
        "    early.join()\n",
        "tests/races/test_commit_hooks.py::test_no_session_dispatches_a_message_before_its_change_is_committed",
    ),
    Fault(
        "a webhook of the sandbox sent to a live endpoint",
        "A partner's production takes a sweep of play money for a real one.",
        "partners/webhooks/outbox.py",
        "    AND endpoint.mode = CASE WHEN message.network = ANY(%(sandbox)s) THEN 'test' ELSE 'live' END\n",
        "    AND %(sandbox)s::text[] IS NOT NULL\n",
        "tests/partners/webhooks/test_delivery.py"
        "::test_messages_of_another_partner_or_of_the_other_mode_are_not_received",
    ),
    Fault(
        "a sweep shown to any key",
        "Anyone who knows the id of a sweep reads another partner's user, amounts and fees.",
        "sweeps/shown/reading.py",
        " AND sweep.partner_id = %(partner_id)s",
        " AND %(partner_id)s::uuid IS NOT NULL",
        "tests/sweeps/test_sweep_status_endpoint.py::test_another_partners_sweep_looks_exactly_like_a_missing_one",
    ),
    Fault(
        "an answer kept without its claim",
        "A request that was taken over builds as well, so one Idempotency-Key has two sweeps.",
        "partners/idempotency.py",
        "held = IdempotencyRecord.objects.filter(pk=claimed.pk, token=claimed.token)\n",
        "held = IdempotencyRecord.objects.filter(pk=claimed.pk)\n",
        "tests/sweeps/test_idempotency.py::test_a_build_that_was_overtaken_stores_nothing",
    ),
)
