"""A sweep on V5 that was built, executed and booked: what the journal, the chain and the tables have about it."""

from dataclasses import dataclass, field

from lab.chaos.checker.books import Books, Entry, Execution, StoredSweep
from lab.chaos.checker.compare import compare
from lab.chaos.checker.findings import Finding
from lab.chaos.checker.promises import Promise, Terms
from lab.chaos.checker.totals import compare_totals
from lab.chaos.checker.truth import Executed, Truth

SWEEP, NONCE, TX, TOKEN = "a-sweep", "77", "0x" + "aa" * 32, "0x" + "0c" * 20


def terms(sweep: str = SWEEP, identity: str = NONCE, *, mode: str = "v5") -> Terms:
    return Terms(
        sweep=sweep,
        mode=mode,
        story=1,
        identities=(identity,),
        contract="0x" + "05" * 20,
        wallet="0x" + "01" * 20,
        output=TOKEN,
        fee_bps=75,
        share_bps=4000,
        partner=0,
        deadline=1_800_000_000,
    )


def executed() -> Executed:
    """Return the event."""
    return Executed(
        identity=NONCE,
        tx_hash=TX,
        wallet="0x" + "01" * 20,
        output=TOKEN,
        gross=100_000,
        total_fee=750,
        partner_fee=300,
        user_amount=99_250,
        paid_to="0x" + "02" * 20,
    )


def entry(number: int = 1, *, kind: str = "sweep_fee", tx_hash: str = TX, is_reversed: bool = False) -> Entry:
    postings: list[tuple[str, int, str | None]] = [
        ("fees_charged", 750, None),
        ("partner_settled", -300, "p"),
        ("protocol_revenue", -450, None),
    ]
    return Entry(f"entry-{number}", kind, SWEEP, "an-execution", tx_hash, TOKEN, is_reversed, postings)


def stored(status: str = "completed", *, is_open: bool = False, gross: int = 100_000) -> StoredSweep:
    is_executed = status == "completed"
    execution = Execution(
        execution="an-execution",
        status="executed" if is_executed else "failed",
        gross=gross if is_executed else None,
        total_fee=750 if is_executed else None,
        partner_fee=300 if is_executed else None,
        user_amount=99_250 if is_executed else None,
        tx_hash=TX if is_executed else None,
    )
    return StoredSweep(SWEEP, "evm_v5", status, is_open, [], "", executions=[execution])


@dataclass
class Case:
    """All sources; without changes they agree."""

    promises: dict[str, Promise] = field(default_factory=lambda: {SWEEP: Promise(terms(), sent=[TX], is_reported=True)})
    truth: Truth = field(default_factory=lambda: Truth({NONCE: executed()}, [], set(), set()))
    books: Books = field(default_factory=lambda: Books({SWEEP: stored()}, [entry()]))

    def findings(self) -> list[Finding]:
        return [
            *compare(self.promises, self.truth, self.books),
            *compare_totals(self.promises, self.truth, self.books),
        ]
