"""A column of the matrix for each choice of liars: web and loop as in production, sweeps that are reported or found.

All lies are told at once. Whatever is concluded meanwhile has to be right, and once all providers tell the truth, every
sweep that happened has to be completed as it happened in time.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import requests

from dev.processes.supervisor import Supervisor, say
from lab.bench.report import Section, Target
from lab.bench.service import Service
from lab.bench.sweeps.copies import Copier
from lab.bench.sweeps.identity import transaction_hash
from lab.bench.sweeps.receipts import Original
from lab.bench.sweeps.template import build, execute
from lab.matrix import networks
from lab.matrix.fates import WHO, Fate, Subject, fates
from lab.matrix.mutations import BELIEVED, HONEST, MUTATIONS, NEVER_WRONG, Mutation, Right
from lab.matrix.networks import NETWORKS, Network, chain_id
from lab.matrix.processes import loop, web

if TYPE_CHECKING:
    from sweepapi_client.types import FeeAuthorization

CONFIRM, WORKER, FOLLOWER, RECONCILIATION = PATHS = ("confirm", "worker", "follower", "reconciliation")
NOT_RECONCILING = "sweeps,clocks,blocks,following,numbering"
CALLERS, POLL_SECONDS = 16, 0.5
LIE_SECONDS = 9.0  # shorter than one word needs
ONE_WORD_SECONDS = 26.0  # from the lie: ten, and the pause before the check that follows, which is 16 at most
RECONCILING_SECONDS = 15.0
MOST_SECONDS = 10.0
GIVEN_UP_SECONDS = 90.0  # the reconciliation has a round each minute, and a closed sweep waits for one

Cell = tuple[str, str]  # a path and the name of a lie


def measure(service: Service) -> tuple[Section, list[str]]:
    """Return the table, and a sentence for each sweep that was wrong."""
    built = build(service)
    original = Original.of(execute(service, built), int(cast("FeeAuthorization", built["feeAuthorization"])["nonce"]))
    copier = Copier.of(UUID(built["sweepId"]))
    api_key = str(service.client.defaults["HTTP_X_API_KEY"])
    rows: list[dict[str, Any]] = []
    wrong: list[str] = []
    for position, who in enumerate(WHO):
        started = time.monotonic()
        with (
            Supervisor(Path(os.environ["DEV_WORLD_FILE"]).parent / "matrix" / who) as supervisor,
            networks.running(original, WHO[who], nth=position) as nodes,
        ):
            column = Column(who, supervisor, nodes, copier, original, api_key, position * len(MUTATIONS) * len(PATHS))
            column.run()
        wrong += column.wrong
        rows.append(column.row() | {"seconds in all": round(time.monotonic() - started, 1)})
        say(str(rows[-1]))
    targets = [
        Target("sweeps that were concluded wrongly", sum(row["wrong"] for row in rows), 0),
        Target(
            "webhooks and entries that a second provider contradicted",
            sum(row["contradicted webhooks, entries"] for row in rows),
            0,
        ),
        Target("seconds from the truth to the right status", max(row["slowest, s"] for row in rows), MOST_SECONDS),
    ]
    return Section("What providers may say of a mined transaction", rows, targets), wrong


@dataclass
class Column:
    """The sweeps of every lie on each path, while these providers lie."""

    who: str
    supervisor: Supervisor
    networks: Mapping[str, Network]
    copier: Copier
    original: Original
    api_key: str
    first: int  # numbers of its copies follow this one
    subjects: dict[Cell, Subject] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    contradicted: int = 0
    slowest_seconds: float = 0.0
    final_seconds: float = 0.0
    one_word: int = 0
    until_final: set[Cell] = field(default_factory=set)

    @property
    def has_honest(self) -> bool:
        return not all(WHO[self.who])

    def run(self) -> None:
        self.supervisor.folder.mkdir(parents=True, exist_ok=True)
        environment = networks.environment(self.networks, self.supervisor.folder) | {"LOG_LEVEL": "INFO"}
        ids = self._copy()
        with web(self.supervisor, environment) as url, loop(self.supervisor, environment, jobs=NOT_RECONCILING):
            self._report(url, [(WORKER, one) for one in MUTATIONS], ids)
            self._mine((CONFIRM, WORKER, FOLLOWER), ids)
            lied = time.monotonic()
            self._report(url, [(CONFIRM, one) for one in MUTATIONS], ids)
            time.sleep(max(lied + LIE_SECONDS - time.monotonic(), 0))
            self._compare("while lies are told")
            if self.has_honest:
                self._await_one_word(lied + ONE_WORD_SECONDS)
            self._tell_the_truth()
            self.slowest_seconds = self._await_truth(self._corrected_soon(), "once the truth is told")
            if self.has_honest:
                self._count_contradicted()
        self._finalize()
        with loop(self.supervisor, environment, jobs=""):
            self.final_seconds = self._await_truth(self._happened(), "once all is final")
        self._mine((RECONCILIATION,), ids)
        self._finalize()
        with loop(self.supervisor, environment, jobs=RECONCILIATION):
            time.sleep(RECONCILING_SECONDS)
            self._compare("while lies are told about final blocks")
        self._tell_the_truth()
        if self.has_honest:  # what every provider hid of final blocks is left to audits
            with loop(self.supervisor, environment, jobs=""):
                self._await_truth(self._happened(), "once the truth is told about final blocks")

    def row(self) -> dict[str, Any]:
        return {
            "who lies": self.who,
            "cells": len(self.subjects),
            "wrong": len(self.wrong),
            "accepted on one word": self.one_word,
            "corrected when final": len(self.until_final),
            "contradicted webhooks, entries": self.contradicted,
            "slowest, s": round(self.slowest_seconds, 1),
            "slowest once final, s": round(self.final_seconds, 1),
        }

    def _copy(self) -> Mapping[Cell, tuple[int, UUID]]:
        """Store a sweep for each cell; returns the number and the id of each."""
        cells = [(path, one.name) for one in MUTATIONS for path in PATHS]
        numbers = range(self.first + 1, self.first + 1 + len(cells))
        chain_ids = [chain_id(NETWORKS[one.name]) for one in MUTATIONS]
        nth = f"[(n - {self.first + 1}) / {len(PATHS)} + 1]"
        network = f"'eip155:' || (ARRAY{chain_ids!r}){nth}"
        changes = {
            ("sweeps_sweep", "network"): network,
            ("sweeps_execution", "network"): network,
            ("evm_v5_feeauthorization", "chain_id"): f"(ARRAY{chain_ids!r}){nth}",
            ("sweeps_sweep", "deadline"): "now() + interval '1 day'",
        }
        self.copier.copy(numbers, changes)
        ids = self.copier.ids(numbers)
        return {cell: (number, ids[number]) for cell, number in zip(cells, numbers, strict=True)}

    def _report(self, url: str, cells: Iterable[tuple[str, Mutation]], ids: Mapping[Cell, tuple[int, UUID]]) -> None:
        """Confirm these through the API, some at a time."""

        def confirm(cell: tuple[str, Mutation]) -> None:
            path, mutation = cell
            number, sweep_id = ids[path, mutation.name]
            answer = requests.post(
                f"{url}/v2/sweep/status/{sweep_id}/confirm",
                json={"txHash": transaction_hash(number)},
                headers={"x-api-key": self.api_key},
                timeout=GIVEN_UP_SECONDS,
            )
            self._judge_answer(path, mutation, answer)

        with ThreadPoolExecutor(CALLERS) as callers:
            list(callers.map(confirm, cells))

    def _judge_answer(self, path: str, mutation: Mutation, answer: requests.Response) -> None:
        refusing = {HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY}
        allowed = {HTTPStatus.OK, HTTPStatus.ACCEPTED}
        if path == CONFIRM and mutation.asked(self.who) in BELIEVED:
            allowed |= refusing
        if answer.status_code not in allowed:
            self._note(path, mutation, "when it was confirmed", f"{answer.status_code} {answer.text[:200]}")

    def _mine(self, paths: Sequence[str], ids: Mapping[Cell, tuple[int, UUID]]) -> None:
        """Execute the sweeps of these paths, each in a block of its own, and begin to lie about them."""
        ordered = sorted(MUTATIONS, key=lambda one: NETWORKS[one.name])
        for name, mutations in groupby(ordered, key=lambda one: NETWORKS[one.name]):
            cells = [(path, one) for one in mutations for path in paths]
            mined = self.networks[name].mine(self.original, [(one, *ids[path, one.name]) for path, one in cells])
            self.subjects |= {(path, one.name): subject for (path, one), subject in zip(cells, mined, strict=True)}

    def _tell_the_truth(self) -> None:
        for network in self.networks.values():
            network.tell_the_truth()

    def _finalize(self) -> None:
        for network in self.networks.values():
            network.chain.final = network.chain.head

    def _fates(self, cells: Iterable[Cell]) -> Mapping[Cell, Fate]:
        executed = [one.told.tx_hash for one in self.subjects.values() if one.mutation.happened]
        return fates({cell: self.subjects[cell] for cell in cells}, executed=executed)

    def _allowed(self, path: str, mutation: Mutation) -> set[Right]:
        """Return what may be concluded meanwhile: beside an honest provider never anything but what happened.

        Another path may find what this one awaits, which is never wrong.
        """
        if self.has_honest:
            return set(NEVER_WRONG)
        by_path = {FOLLOWER: mutation.follower, RECONCILIATION: mutation.reconciliation}
        found = {mutation.follower, by_path.get(path, mutation.asked(self.who))}
        return {*NEVER_WRONG, *found}

    def _compare(self, when: str) -> None:
        for (path, name), fate in self._fates(self.subjects).items():
            mutation = self.subjects[path, name].mutation
            if fate.right not in self._allowed(path, mutation):
                self._note(path, mutation, when, str(fate))

    def _await_one_word(self, until: float) -> None:
        """Wait until what only one provider has an opinion on is accepted."""
        cells = {(path, one.name) for one in MUTATIONS if one.is_silent for path in (CONFIRM, WORKER)}
        open_cells = self._await(cells, until)
        self.one_word = len(cells) - len(open_cells)
        for path, name in open_cells:
            self._note(path, self.subjects[path, name].mutation, "on one word", "is not accepted in time")
        self._compare("while lies are told for longer")

    def _await_truth(self, cells: set[Cell], when: str) -> float:
        """Wait until these are as they happened; returns how long that took, in seconds."""
        told = time.monotonic()
        for path, name in self._await(cells, told + GIVEN_UP_SECONDS):
            (fate,) = self._fates([(path, name)]).values()
            self._note(path, self.subjects[path, name].mutation, when, str(fate))
        return time.monotonic() - told

    def _await(self, cells: set[Cell], until: float) -> set[Cell]:
        """Wait until these are as they happened; returns those that are not in time."""
        while cells and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
            cells = {cell for cell, fate in self._fates(cells).items() if fate.right is not HONEST}
        return cells

    def _corrected_soon(self) -> set[Cell]:
        """Return what has to be right soon: all that happened, except what is believed until its block is final."""
        for (path, name), fate in self._fates(self.subjects).items():
            if self.subjects[path, name].mutation.stays and fate.right in BELIEVED:
                self.until_final.add((path, name))
        return self._happened() - self.until_final

    def _happened(self) -> set[Cell]:
        return {cell for cell, one in self.subjects.items() if one.mutation.happened}

    def _count_contradicted(self) -> None:
        """Compare webhooks and books with those of sweeps that every provider showed from the start."""
        for (path, name), fate in self._fates(self.subjects).items():
            happened = self.subjects[path, name].mutation.happened
            expected = (("sweep.completed",), ("sweep_fee",)) if happened else ((), ())
            if (fate.messages, fate.entries) != expected:
                self.contradicted += 1
                self._note(path, self.subjects[path, name].mutation, "in webhooks and books", str(fate))

    def _note(self, path: str, mutation: Mutation, when: str, what: str) -> None:
        self.wrong.append(f"{self.who}, {path}, {mutation.name}: {when}: {what}")
