"""The state table of a sweep as a page of plain Python, and the simulated chain that the state-machine test drives.

The model has no rails, rows or events. It takes the result of one check of the chain and derives what state follows.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

Rail = Literal["evm_v5", "evm_v4"]
Outcome = Literal["reverted", "executed", "unrelated", "wrong_fee"]
SAFE_DEPTH, FINAL_DEPTH = 2, 4
MAX_CANDIDATES = 10


@dataclass(frozen=True)
class MinedBlock:
    """A block with the transactions that concern the sweep."""

    number: int
    fork: int
    timestamp: int
    transactions: dict[str, Outcome] = field(default_factory=dict)
    cancels: bool = False


@dataclass(frozen=True)
class View:
    """The result of one check, for the hashes and the accepted height that were followed at that time."""

    head: int
    safe: int
    final: int
    mined: dict[str, tuple[Outcome, MinedBlock]]
    canonical: MinedBlock | None  # the block at the accepted height
    is_used: bool  # on the safe block
    has_run_out: bool  # the safe block is past the deadline
    found: tuple[str, MinedBlock] | None  # by a search up to the safe block; without a hash for a cancellation
    agreed: bool = True


@dataclass
class Chain:
    """Blocks that may be replaced, down to the final one."""

    deadline: int
    blocks: list[MinedBlock] = field(default_factory=lambda: [MinedBlock(0, 0, 0)])
    forks: int = 0

    @property
    def head(self) -> MinedBlock:
        return self.blocks[-1]

    def mine(self, transactions: dict[str, Outcome] | None = None, *, seconds: int = 1, cancels: bool = False) -> None:
        self.blocks.append(
            MinedBlock(self.head.number + 1, self.forks, self.head.timestamp + seconds, transactions or {}, cancels)
        )

    def reorganise(self, depth: int) -> None:
        """Replace the newest blocks by as many empty ones."""
        self.forks += 1
        dropped = self.blocks[-depth:]
        del self.blocks[-depth:]
        for block in dropped:
            self.blocks.append(replace(block, fork=self.forks, transactions={}, cancels=False))

    def find(self, tx_hash: str) -> tuple[Outcome, MinedBlock] | None:
        found = ((block.transactions[tx_hash], block) for block in self.blocks if tx_hash in block.transactions)
        return next(found, None)

    def use_of_nonce(self, *, up_to: int) -> tuple[str, MinedBlock] | None:
        for block in self.blocks[: up_to + 1]:
            executed = [
                tx_hash for tx_hash, outcome in block.transactions.items() if outcome in ("executed", "wrong_fee")
            ]
            if executed or block.cancels:
                return (executed[0] if executed else ""), block
        return None

    def read(
        self, hashes: list[str], accepted_height: int | None, *, agreed: bool = True, searches: bool = True
    ) -> View:
        safe = max(self.head.number - SAFE_DEPTH, 0)
        use = self.use_of_nonce(up_to=safe)
        mined = {tx_hash: found for tx_hash in hashes if (found := self.find(tx_hash)) is not None}
        is_explained = accepted_height is not None or any(outcome == "executed" for outcome, _ in mined.values())
        return View(
            head=self.head.number,
            safe=safe,
            final=max(self.head.number - FINAL_DEPTH, 0),
            mined=mined,
            canonical=self.blocks[accepted_height] if accepted_height is not None else None,
            is_used=use is not None,
            has_run_out=self.blocks[safe].timestamp > self.deadline,
            found=use if searches and not is_explained else None,
            agreed=agreed,
        )


@dataclass
class Story:
    """A sweep according to the state table."""

    rail: Rail
    status: str = "pending"
    is_open: bool = True
    candidates: dict[str, str] = field(default_factory=dict)  # status by hash, in the order of their last reports
    seen: set[str] = field(default_factory=set)  # hashes that a look has shown in a block
    accepted_at: MinedBlock | None = None
    epoch: int = 0
    is_late: bool = False  # executed after it was closed
    was_voided: bool = False

    @property
    def followed(self) -> list[str]:
        if self.accepted_at is not None:
            return [tx_hash for tx_hash, status in self.candidates.items() if status == "accepted"]
        return [tx_hash for tx_hash, status in self.candidates.items() if status != "displaced"]

    def report(self, tx_hash: str) -> str:
        """Admit a hash and return "", or return the code of the refusal."""
        known = self.candidates.get(tx_hash)
        if self.status in ("expired", "void"):
            return f"sweep_{self.status}"
        if self.status == "completed":
            return "" if known == "accepted" else "sweep_already_confirmed"
        if self.status == "failed" and known == "reverted":
            return "transaction_reverted"
        if self.status == "failed" and not self.is_open:
            return "sweep_failed"
        if known in (None, "displaced") and len(self.followed) >= MAX_CANDIDATES:
            unseen = [one for one in self.followed if self.candidates[one] == "submitted" and one not in self.seen]
            if not unseen:
                return "too_many_candidates"
            self.candidates[unseen[0]] = "displaced"
        if known in (None, "displaced", "rejected"):
            self.candidates.pop(tx_hash, None)
            self.candidates[tx_hash] = "submitted"
        self.status = "pending"
        return ""

    def answer(self, tx_hash: str) -> str:
        """Return the code with which a confirm ends after its check, "" for success."""
        if self.status == "void":
            return "sweep_void"
        return {
            "reverted": "transaction_reverted",
            "rejected": "event_mismatch",
            "replaced": "sweep_already_confirmed",
            "dropped": "sweep_failed",
        }.get(self.candidates[tx_hash], "")

    def void(self) -> bool:
        """Void the sweep if that is allowed now."""
        is_allowed = self.status == "pending" and "submitted" not in self.candidates.values()
        if is_allowed:
            self.status, self.was_voided = "void", True
        return is_allowed

    def check(self, view: View) -> None:
        if not self.is_open:
            return
        if self.accepted_at is not None:
            self._follow(self.accepted_at, view)
            return
        for tx_hash in list(self.followed):
            if tx_hash in view.mined and self.accepted_at is None:
                self._decide(tx_hash, *view.mined[tx_hash])
        if self.accepted_at is None and view.found is not None and not self._is_end(view.found):
            tx_hash, block = view.found
            self._decide(tx_hash, block.transactions[tx_hash], block)
        if self.accepted_at is None:
            self._end(view)

    def reconcile(self, view: View) -> None:
        """Settle what a scan of the final blocks found, which also counts for a closed sweep."""
        if not self.is_open and view.found is not None and not self._is_end(view.found):
            tx_hash, block = view.found
            if block.transactions[tx_hash] != "executed":
                return
            self.is_open = self.is_late = True
        self.check(view)

    def _is_end(self, found: tuple[str, MinedBlock]) -> bool:
        """Whether this use of the identity ends the sweep: a cancellation, or on V4 an execution on other terms.

        On V5 the nonce binds the terms, so an event with other terms is a reason to look into it, and no end.
        """
        tx_hash, block = found
        return not tx_hash or (self.rail == "evm_v4" and block.transactions[tx_hash] == "wrong_fee")

    def _decide(self, tx_hash: str, outcome: Outcome, block: MinedBlock) -> None:
        self.seen.add(tx_hash)
        if outcome != "executed":
            self.candidates[tx_hash] = "reverted" if outcome == "reverted" else "rejected"
            return
        self._turn("submitted", "replaced")
        self.candidates[tx_hash] = "accepted"
        self.status, self.accepted_at = "completed", block

    def _end(self, view: View) -> None:
        if view.found is not None and self._is_end(view.found) and view.agreed:
            is_void = self.status == "void" or not view.found[0]
            self.status, self.is_open = "void" if is_void else "failed", False
            self._turn("submitted", "dropped")
        elif not view.is_used and view.has_run_out and view.agreed:
            if self.status == "pending":
                self.status = "failed" if self.candidates else "expired"
            self.is_open = False
            self._turn("submitted", "dropped")
        elif self.status == "pending":
            outcomes = self.candidates.values()
            self.status = "failed" if "reverted" in outcomes and "submitted" not in outcomes else "pending"

    def _follow(self, accepted: MinedBlock, view: View) -> None:
        if view.canonical is None or view.canonical.number != accepted.number or not view.agreed:
            return
        if view.canonical != accepted:
            self.seen -= {tx_hash for tx_hash, status in self.candidates.items() if status == "accepted"}
            self._turn("accepted", "submitted")
            self._turn("replaced", "submitted")
            self.status = "void" if self.was_voided else "pending"
            self.accepted_at, self.epoch = None, self.epoch + 1
        elif accepted.number <= view.final and any(self.candidates.get(one) == "accepted" for one in view.mined):
            self.is_open = False

    def _turn(self, before: str, after: str) -> None:
        for tx_hash, status in self.candidates.items():
            if status == before:
                self.candidates[tx_hash] = after
