"""The steps of the rehearsal, in order; the runbook's page "Restoring the database" has the same ones."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from signal import SIGTERM
from typing import TYPE_CHECKING, Any, cast

import psycopg
from eth_utils.crypto import keccak

from dev.demo.context import Context, StepResult
from dev.demo.reconciliation import EVENTS
from dev.engines.anvil import FINAL_DEPTH_BLOCKS
from dev.processes.waiting import wait_until
from lab.restore.backups import Backups
from lab.restore.statements import Statements
from ledger.statements.month import Month
from sweepapi_client import NoAnswerError, SweepApiError

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSweep, FeeAuthorization

PERIODIC = ("work", "beat")  # the programs that look for what is due
RETURN_SECONDS = 120
DIFFERENT = 1  # the exit status of `manage.py reconcile` if the books differ
# Where the data of each event has the total fee: V5 begins with three addresses, V4 with one; then count and gross.
FEE_WORDS = {"v5": 5, "v4": 3}
Manage = Callable[..., subprocess.CompletedProcess[str]]


@dataclass
class Rehearsal:
    """The running world, and what happened so far."""

    context: Context
    backups: Backups
    manage: Manage
    statements: Statements
    month: Month = field(default_factory=lambda: Month.of(datetime.now(UTC)))
    kept: list[BuiltSweep] = field(default_factory=list)
    lost: list[BuiltSweep] = field(default_factory=list)
    lost_on_v4: list[tuple[BuiltSweep, str]] = field(default_factory=list)  # with their transactions
    unsent: list[BuiltSweep] = field(default_factory=list)
    events: int = 0  # on chain
    era: str = ""  # which was begun after the restore

    def sweep(self, wallet: int, *, on_v4: bool = False, is_reported: bool = True) -> tuple[BuiltSweep, str]:
        """Build a sweep and send it, as a wallet; returns the answer and the hash."""
        context = self.context
        user, api = context.wallets[wallet], context.rolled_back if on_v4 else context.ours
        built = context.build(user, "WETH", api=api, USDC=3)
        tx_hash = context.sign_and_send(user, built)
        context.receipt(tx_hash)
        if is_reported:
            api.confirm(built["sweepId"], {"txHash": tx_hash})
        self.events += 1
        return built, tx_hash

    def differences(self) -> tuple[int, list[dict[str, Any]]]:
        """Compare the books with the chain; return the exit status and the differences."""
        done = self.manage("reconcile", self.context.chain, "--json")
        return done.returncode, json.loads(done.stdout)["differences"]

    def wait_for_entries(self) -> None:
        """Wait until the ledger lists an entry for each event on chain."""

        def listed() -> bool:
            return len({posting["txHash"] for posting in self.context.ours.ledger_entries()}) == self.events

        wait_until(listed, within_seconds=RETURN_SECONDS, what=f"{self.events} entries")

    def repair(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.manage("reconcile", self.context.chain, "--repair", "--by", "rehearsal", *arguments)


def back_up(rehearsal: Rehearsal, result: StepResult) -> None:
    """Sweep, take a base backup, and sweep again."""
    rehearsal.backups.archive_the_log()
    result.record("the server copies its log to an archive")
    wait_until(partial(_serves, rehearsal), within_seconds=RETURN_SECONDS, what="return of the API")
    rehearsal.kept.append(rehearsal.sweep(0)[0])
    rehearsal.backups.take()
    result.record("one sweep was completed, and then a base backup was taken")
    rehearsal.kept.append(rehearsal.sweep(0)[0])
    result.record("another one was completed after it")
    rehearsal.wait_for_entries()
    rehearsal.statements.sign(rehearsal.month)
    rehearsal.statements.save("before", rehearsal.month)
    rehearsal.statements.check("before")
    result.record("the month ended, and the partner checked its signed statement")


def lose_commits(rehearsal: Rehearsal, result: StepResult) -> None:
    """Sweep more, kill the server, and restore a point in time before that."""
    until = rehearsal.backups.now()
    rehearsal.lost += [rehearsal.sweep(0)[0], rehearsal.sweep(1, is_reported=False)[0]]
    rehearsal.lost_on_v4.append(rehearsal.sweep(2, on_v4=True))
    rehearsal.unsent.append(rehearsal.context.build(rehearsal.context.wallets[3], "WETH", USDC=3))
    result.record("two sweeps on V5 and one on V4 were executed, one of them unreported; another was only built")
    rehearsal.wait_for_entries()
    rehearsal.statements.sign(rehearsal.month.shifted(1))
    rehearsal.statements.save("lost", rehearsal.month.shifted(1))
    result.record("the next month ended, and its statement, with what they booked, was signed")
    rehearsal.backups.archive_all()
    rehearsal.backups.kill()
    for name in PERIODIC:
        rehearsal.backups.fleet.kill(name, SIGTERM)
    result.record("PostgreSQL was killed, and loop and beat stopped")
    rehearsal.backups.restore(until)
    result.record(f"the backup was restored, and what was committed until {until:%H:%M:%S}")
    wait_until(partial(_serves, rehearsal), within_seconds=RETURN_SECONDS, what="return of the API")
    result.record("the API serves again; web and Celery were not restarted")
    done = rehearsal.manage("begin_statement_era", "--reason", "the rehearsal")
    result.check(done.returncode == 0, "`manage.py begin_statement_era` began another era")
    rehearsal.era = done.stdout.split()[-1].removesuffix(".")
    for name in PERIODIC:
        rehearsal.backups.fleet.relaunch(name)
    result.record("loop and beat were started again")
    statuses = {rehearsal.context.ours.sweep(built["sweepId"])["status"] for built in rehearsal.kept}
    result.check(statuses == {"completed"}, "the sweeps up to then are there, also the one after the backup")
    gone = [built["sweepId"] for built in (*rehearsal.lost, *rehearsal.unsent)]
    result.check(all(not _is_known(rehearsal, sweep_id) for sweep_id in gone), "the later ones get 404 sweep_not_found")


def _is_known(rehearsal: Rehearsal, sweep_id: str) -> bool:
    try:
        rehearsal.context.ours.sweep(sweep_id)
    except SweepApiError as refusal:
        return refusal.code != "sweep_not_found"
    return True


def build_again(rehearsal: Rehearsal, result: StepResult) -> None:
    """Build and sweep with the restored database."""
    built = [rehearsal.sweep(wallet)[0] for wallet in (0, 1, 3)]
    before = {_nonce(one) for one in (*rehearsal.kept, *rehearsal.lost, *rehearsal.unsent)}
    result.check(before.isdisjoint(map(_nonce, built)), "new builds have authorization nonces that were never signed")
    statuses = {rehearsal.context.wait_for_status(one["sweepId"], "completed")["status"] for one in built}
    result.check(statuses == {"completed"}, "their sweeps are completed")
    (unsent,) = rehearsal.unsent
    repeated = built[-1]["permit2"]["message"]["nonce"] == unsent["permit2"]["message"]["nonce"]
    result.check(repeated, "the wallet of the sweep that was only built got that one's Permit2 nonce again")
    tx_hash = rehearsal.context.sign_and_send(rehearsal.context.wallets[3], unsent)
    reverted = rehearsal.context.receipt(tx_hash)["status"] == "0x0"
    result.check(reverted, "so of these two sweeps of that wallet, the one that it sends last reverts")


def report(rehearsal: Rehearsal, result: StepResult) -> None:
    """Let everything become final, and compare."""
    rehearsal.context.pass_time(1, blocks=FINAL_DEPTH_BLOCKS + 1)
    status, found = rehearsal.differences()
    result.check(status == DIFFERENT, "`manage.py reconcile` exits with 1")
    lost = {_nonce(built) for built in rehearsal.lost}
    of_v5 = {one["execution_id"] for one in found} & lost
    problems = {one["problem"] for one in found}
    result.check(of_v5 == lost, "it reports each sweep on V5 that was executed and lost")
    v4_hashes = {tx_hash for _, tx_hash in rehearsal.lost_on_v4}
    result.check(v4_hashes <= {one["tx_hash"] for one in found}, "and the one on V4")
    is_all = len(found) == len(lost) + len(v4_hashes) and problems == {"event_without_sweep"}
    result.check(is_all, "and nothing else")


def repair(rehearsal: Rehearsal, result: StepResult) -> None:
    """Adopt what was lost."""
    done = rehearsal.repair()
    adopted = done.stderr.count(" adopted as sweep ")
    result.check(adopted == len(rehearsal.lost), "`--repair` adopts those on V5, whose events name the partner")
    ((built, tx_hash),) = rehearsal.lost_on_v4
    result.check(f"{tx_hash} not adopted" in done.stderr, "that on V4 waits for operators to name its partner")
    partner = rehearsal.context.ours.partner()
    done = rehearsal.repair("--partner", partner["id"], "--tx", tx_hash)
    result.check(done.returncode == 0, "with `--partner` and `--tx` it is adopted, and no difference is left")
    shown = rehearsal.context.ours.sweep(built["sweepId"])
    result.check(shown["status"] == "completed", "it has its id again, which its V4 reference contains")
    result.check(shown["flags"] == ["adopted"], "it is flagged `adopted`")
    again = rehearsal.repair()
    result.check((again.returncode, again.stderr) == (0, ""), "another repair finds nothing to do")


def compare_by_hand(rehearsal: Rehearsal, result: StepResult) -> None:
    """Sum up the events on chain and the books, apart from the service's code."""
    charged, count = _fees_on_chain(rehearsal.context)
    result.check(count == rehearsal.events, f"the chain has {count} executions")
    with psycopg.connect(rehearsal.backups.url) as connection:
        rows = connection.execute(
            "SELECT count(*), sum(amount) FROM ledger_posting JOIN ledger_account AS account "
            "ON account.id = account_id WHERE account.name = 'fees_charged'"
        ).fetchall()
    ((entries, booked),) = rows
    result.check((entries, int(booked)) == (count, charged), "the ledger has as many fees, of the same sum")


def compare_statements(rehearsal: Rehearsal, result: StepResult) -> None:
    """Sign the month that was lost, under the new era, and check it against the statement before the restore."""
    statements, month, lost_month = rehearsal.statements, rehearsal.month, rehearsal.month.shifted(1)
    before = rehearsal.context.ours.statement(str(month))
    result.check(before == statements.saved["before"], "the statement that was restored is the one that was saved")
    result.check_refused(
        lambda: rehearsal.context.ours.statement(str(lost_month)), 409, "statement_not_ready", what="the lost one"
    )
    rehearsal.wait_for_entries()
    statements.sign(lost_month)
    again = statements.save("again", lost_month)
    said = statements.check("again", former="before")
    continues = f"It continues the checkpoint of {month}." in said
    result.check(continues, "signed again, with what was adopted, it continues the one before the restore")
    hashes = {record["txHash"] for record in again["records"]}
    result.check(
        len(hashes) == rehearsal.events - len(rehearsal.kept), "it has all executions since, as the chain shows"
    )
    eras = [statements.era(name) for name in ("before", "lost", "again")]
    result.check(eras == ["0", "0", rehearsal.era], "its name has the new era, so no name is of two trees")
    statements.check("lost", former="before")
    result.record("the lost statement is still good for its signature, under the former name")


def _fees_on_chain(context: Context) -> tuple[int, int]:
    """Return the sum of the fees in all events of our contracts, and how many there are."""
    fees = []
    for version in ("v5", "v4"):
        contract = context.contracts[version]
        topic = "0x" + keccak(text=EVENTS[version]).hex()
        logs = context.rpc.call("eth_getLogs", {"address": contract, "topics": [topic], "fromBlock": "0x0"})
        for log in logs:
            data = bytes.fromhex(log["data"][2:])
            words = [int.from_bytes(data[start : start + 32]) for start in range(0, len(data), 32)]
            fees.append(words[FEE_WORDS[version]])
    return sum(fees), len(fees)


def _nonce(built: BuiltSweep) -> str:
    return cast("FeeAuthorization", built["feeAuthorization"])["nonce"]  # those of V5 have one


def _serves(rehearsal: Rehearsal) -> bool:
    """Return whether the API answers, and its database too."""
    try:
        rehearsal.context.ours.partner()
    except (SweepApiError, NoAnswerError):
        return False
    return True


STEPS: tuple[tuple[str, Callable[[Rehearsal, StepResult], None]], ...] = (
    ("a base backup, and sweeps around it", back_up),
    ("the last commits are lost", lose_commits),
    ("the service goes on", build_again),
    ("the comparison", report),
    ("the repair", repair),
    ("events and books, added up without the service", compare_by_hand),
    ("the statements", compare_statements),
)
