"""Whether web, loop, webhooks, Celery and beat are alive and ready is answered at once, whatever is down."""

import pytest
import requests

from dev.ports import free_port
from dev.wallets import Wallet
from sweepapi_client import SweepClient, finalized, token_inputs
from tests.local_chain import LocalChain
from tests.resilience.databases import Database
from tests.resilience.engines import STEP_SECONDS, Engines
from tests.resilience.observed import GROUPS, Observed, frozen

LONGEST_ANSWER_SECONDS = 0.1


@pytest.fixture(scope="module")
def observed(engines: Engines, database: Database, redis_url: str) -> Observed:
    service = Observed(engines, database, f"http://127.0.0.1:{free_port()}")
    service.start({"DATABASE_URL": database.url, "REDIS_URL": redis_url})
    return service


@pytest.fixture
def completed(observed: Observed, database: Database, chain: LocalChain) -> str:
    """The network of a sweep that was built, sent and confirmed."""
    wallet = Wallet(chain.node, chain.world["users"][0]["privateKey"])
    usdc = chain.token("USDC")
    with SweepClient(observed.api_url, database.api_key, retries=0) as api:
        built = api.build(
            {
                "chain": chain.world["chain"],
                "wallet": wallet.address,
                "tokens": token_inputs({usdc.address: usdc.units(3)}),
                "outputMint": chain.token("WETH").address,
                "slippageBps": 500,
            }
        )
        for issue in built["issues"]["allowance"]:
            chain.receipt(wallet.send(issue["transaction"]))
        tx_hash = wallet.send(finalized(built, wallet.sign(built["permit2"])))
        assert chain.receipt(tx_hash)["status"] == 1
        assert api.confirm(built["sweepId"], {"txHash": tx_hash})["status"] == "completed"
    return f"eip155:{chain.world['chainId']}"


def answers_at_once(observed: Observed, path: str) -> dict[str, int]:
    """Return the status of each group's answer."""
    answers = {group: observed.ask(group, path) for group in GROUPS}
    assert max(answer.seconds for answer in answers.values()) < LONGEST_ANSWER_SECONDS
    return {group: answer.status for group, answer in answers.items()}


def test_a_scrape_after_a_sweep_counts_its_requests_its_build_and_its_calls_to_the_chain(
    observed: Observed, completed: str
) -> None:
    web = observed.samples("web")
    assert web["sweepapi_builds_total", (completed, "built")] == 1
    assert web["sweepapi_http_requests_total", ("POST", "/v2/sweep/build", "201")] == 1
    assert web["sweepapi_http_request_seconds_count", ("/v2/sweep/build",)] == 1
    assert web["sweepapi_settle_seconds_count", ()] == 1
    # The loop accepts it if it is faster than the confirm.
    accepted = [observed.samples(process)["sweepapi_acceptance_seconds_count", ()] for process in ("web", "work")]
    assert sum(accepted) == 1
    assert web["sweepapi_rpc_calls_total", ("eth_getTransactionReceipt", completed, "answered", "0")] >= 1
    assert web["sweepapi_rpc_request_seconds_count", (completed, "0")] >= 4


def test_a_scrape_of_celery_has_its_tasks(observed: Observed) -> None:
    expected = {
        ("sweepapi_tasks_total", ("indexer.check_due", "succeeded")),
        ("sweepapi_task_seconds_count", ("indexer.check_due",)),
    }
    observed.engines.wait_for(lambda: expected <= observed.samples("celery").keys(), "every metric of Celery")


def test_a_scrape_of_the_loop_has_its_jobs_and_what_the_database_the_broker_and_the_chain_show(
    observed: Observed, completed: str
) -> None:
    expected = {
        ("sweepapi_jobs_total", ("sweeps", "succeeded")),
        ("sweepapi_job_seconds_count", ("sweeps",)),
        ("sweepapi_rpc_calls_total", ("eth_getLogs", completed, "answered", "0")),
        ("sweepapi_rpc_request_seconds_count", (completed, "0")),
        ("sweepapi_provider_answer_timestamp_seconds", (completed, "0")),
        ("sweepapi_oldest_due_seconds", ()),
        ("sweepapi_due_sweeps", ()),
        ("sweepapi_queue_messages", ("ready",)),
        ("sweepapi_queue_messages", ("unacknowledged",)),
        ("sweepapi_heartbeat_timestamp_seconds", ("worker",)),
        ("sweepapi_heartbeat_timestamp_seconds", ("beat",)),
        ("sweepapi_check_timestamp_seconds", ("database",)),
        ("sweepapi_flagged_sweeps", ("inconsistent_amounts",)),
        ("sweepapi_ledger_unbalanced_entries", ()),
        ("sweepapi_figure_timestamp_seconds", ("queue",)),
        ("sweepapi_unmatched_events", (completed,)),
        ("sweepapi_books_differences", (completed,)),
        ("sweepapi_books_compared_timestamp_seconds", (completed,)),
        ("sweepapi_fee_signer_balance_wei", (completed,)),
    }
    observed.engines.wait_for(lambda: expected <= observed.samples("work").keys(), "every metric of the loop")
    worker = observed.samples("work")
    assert worker["sweepapi_ledger_unbalanced_entries", ()] == 0
    assert worker["sweepapi_flagged_sweeps", ("inconsistent_amounts",)] == 0
    assert worker["sweepapi_oldest_due_seconds", ()] < STEP_SECONDS
    assert worker["sweepapi_fee_signer_balance_wei", (completed,)] > 0


def test_while_the_database_is_away_all_are_alive_and_none_is_ready(observed: Observed, engines: Engines) -> None:
    engines.stop_named("postgres")
    observed.wait_for_status("unavailable")
    assert answers_at_once(observed, "/healthz") == dict.fromkeys(GROUPS, 200)
    assert answers_at_once(observed, "/readyz") == dict.fromkeys(GROUPS, 503)
    engines.start_again("postgres")
    observed.wait_for_status("ready")


def test_while_the_database_is_frozen_all_answer_at_once(observed: Observed, engines: Engines) -> None:
    with frozen(engines, "postgres"):
        observed.wait_for_status("unavailable")
        assert answers_at_once(observed, "/healthz") == dict.fromkeys(GROUPS, 200)
        assert answers_at_once(observed, "/readyz") == dict.fromkeys(GROUPS, 503)
    observed.wait_for_status("ready")


def test_without_redis_all_are_degraded_and_ready(observed: Observed, engines: Engines) -> None:
    engines.stop_named("redis")
    observed.wait_for_status("degraded", "web", "celery")
    assert answers_at_once(observed, "/readyz") == dict.fromkeys(GROUPS, 200)
    assert observed.ask("web", "/readyz").body["checks"]["redis"] == "failed"
    engines.start_again("redis")
    observed.wait_for_status("ready")


def test_a_loop_that_was_killed_degrades_web_and_is_away_in_the_status_of_the_service(
    observed: Observed, engines: Engines
) -> None:
    engines.stop_named("work")
    observed.forget_the_worker()
    observed.wait_for_status("degraded", "web", "celery", "beat", failed={"worker"})
    worker = requests.get(f"{observed.api_url}/v2/status", timeout=STEP_SECONDS).json()["data"]["worker"]
    assert worker["available"] is False
    assert worker["awaySince"] is not None
    assert '"event":"check_failed"' in (engines.folder / "web.log").read_text()
    engines.start_again("work")
    observed.wait_for_status("ready")


def test_webhooks_that_hang_degrade_web_and_are_scraped_once_they_go_on(observed: Observed, engines: Engines) -> None:
    with frozen(engines, "webhooks"):
        observed.wait_for_status("degraded", "web", "work", "celery", "beat", failed={"webhooks"})
    observed.wait_for_status("ready")
    webhooks = observed.samples("webhooks")
    assert webhooks["sweepapi_heartbeat_timestamp_seconds", ("webhooks",)] > 0
    assert webhooks["sweepapi_check_timestamp_seconds", ("database",)] > 0
