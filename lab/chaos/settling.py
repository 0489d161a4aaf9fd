"""The end of a run: faults end, deadlines pass, blocks become final, and the service has time to come to rest."""

import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from dev.chain.chains_file import CHAIN
from dev.chain.rpc import Rpc
from dev.keys import address_of
from dev.processes.supervisor import say
from dev.solana.clusters_file import CLUSTER
from lab.chaos.breaking import failover
from lab.chaos.breaking.fault_effects import DUE, Message, Scene
from lab.chaos.checker.books import open_sweeps, read_books
from lab.chaos.checker.compare import compare
from lab.chaos.checker.findings import Finding
from lab.chaos.checker.promises import Promise, read_promises
from lab.chaos.checker.totals import compare_answers, compare_balances, compare_totals
from lab.chaos.checker.truth import Truth, read_truth
from lab.chaos.journal import JOURNAL, read
from lab.chaos.partner import PartnerApi
from lab.chaos.world import BEATS, FINAL_DEPTH_BLOCKS, LOOPS, WEBS, WORKERS
from sweepapi_client import SweepClient

PAST_DEADLINE_SECONDS = 60
SETTLE_SECONDS = 150  # above the lease of a worker that was killed, and a minute between reconciliations
POLL_SECONDS = 1.0
BLOCKS_PER_POLL = 4
POLLS_PER_MESSAGE = 10


def bring_to_rest(scene: Scene) -> float:
    """End every fault and every deadline, and wait until no sweep is open; returns how many seconds that took."""
    world, chain = scene.world, scene.chain
    for name in ("redis", *WEBS, *LOOPS, *WORKERS, *BEATS):
        world.bring_up(name)
    world.wait_until_served()
    promises = _promises(scene)
    last = max((promise.terms.deadline for promise in promises.values()), default=0)
    chain.mine()
    chain.warp(max(last + PAST_DEADLINE_SECONDS - chain.time(), 1))
    chain.mine(FINAL_DEPTH_BLOCKS + 1)
    Rpc(world.cluster.rpc_url).call("dev_expireBlockhashes")
    if any(entry["kind"] == "failed_over" for entry in read(world.fleet.folder / JOURNAL)):
        scene.journal.add("repaired", printed=failover.repair(world, _unnamed(scene, promises)))
    began, polls, is_clean = time.monotonic(), 0, False
    while not is_clean and time.monotonic() - began < SETTLE_SECONDS:
        chain.mine(BLOCKS_PER_POLL)
        if polls % POLLS_PER_MESSAGE == 0:
            scene.send(Message(DUE))
            say(f"at rest after {time.monotonic() - began:.0f} s: {open_sweeps(world.database_url)} sweeps are open")
        is_clean = not open_sweeps(world.database_url) and not any(_compare(scene, promises))
        polls += 1
        time.sleep(POLL_SECONDS)
    return time.monotonic() - began


def check(scene: Scene) -> list[Finding]:
    """Return everything that is wrong now."""
    promises = _promises(scene)
    findings = _compare(scene, promises)
    world = scene.world
    apis = [PartnerApi(world.base_urls, key, scene.journal) for key in world.api_keys]
    books = read_books(world.database_url)
    return [*findings, *compare_answers(list(promises.values()), books, apis)]


def recorded(scene: Scene) -> dict[str, int]:
    """Count sweeps by rail and status and by flag, and entries by kind."""
    books = read_books(scene.world.database_url)
    counts = Counter(f"{sweep.rail} {sweep.status}" for sweep in books.sweeps.values())
    counts.update(f"flag {flag}" for sweep in books.sweeps.values() for flag in sweep.flags)
    counts.update(f"entry {entry.kind}" for entry in books.entries)
    return dict(sorted(counts.items()))


def _promises(scene: Scene) -> dict[str, Promise]:
    return read_promises(read(scene.world.fleet.folder / JOURNAL))


def _unnamed(scene: Scene, promises: dict[str, Promise]) -> dict[tuple[str, str], list[str]]:
    """Return, by network and the partner's id, the transactions where nothing on chain names the partner."""
    partners = [SweepClient(scene.world.base_urls[0], key).partner()["id"] for key in scene.world.api_keys]
    truth, hashes = _truth(scene, promises), defaultdict[tuple[str, str], list[str]](list)
    for promise in promises.values():
        if promise.terms.mode != "v5":
            executed = [truth.executed[one].tx_hash for one in promise.terms.identities if one in truth.executed]
            network = CLUSTER if promise.terms.mode == "v1" else CHAIN
            hashes[network, partners[promise.terms.partner]].extend(executed)
    return {named: found for named, found in hashes.items() if found}


def _truth(scene: Scene, promises: dict[str, Promise]) -> Truth:
    world, rpc = scene.world, Rpc(scene.chain.rpc.url)
    contracts = world.local.deployment.contracts
    terms = [promise.terms for promise in promises.values()]
    return read_truth(rpc, Rpc(world.cluster.rpc_url), [contracts["v5"], contracts["v4"]], terms)


def _compare(scene: Scene, promises: dict[str, Promise]) -> Sequence[Finding]:
    world, truth = scene.world, _truth(scene, promises)
    books = read_books(world.database_url)
    protocol = address_of(world.local.keys.protocol_recipient)
    return [
        *compare(promises, truth, books),
        *compare_totals(promises, truth, books),
        *compare_balances(Rpc(scene.chain.rpc.url), truth, protocol),
    ]
