"""The metrics of all processes; the rules and the dashboard in ``ops/`` say what each is for.

Where processes share their metrics, import this only after ``sharing.share``. Gauges of the mode ``max`` hold times.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram

from sweepapi.errors import SweepApiError
from sweepapi.monitoring import readiness

# --- The API ----------------------------------------------------------------------------------------------------------
REQUESTS = Counter("sweepapi_http_requests", "Requests that were answered.", ["method", "route", "status"])
REQUEST_SECONDS = Histogram("sweepapi_http_request_seconds", "How long they took.", ["route"])
BUILDS = Counter("sweepapi_builds", "Builds by outcome: built, or the code of the error.", ["network", "outcome"])
RATE_LIMIT_FALLBACKS = Counter(
    "sweepapi_rate_limit_fallback", "Requests that were limited by their process, or not, without Redis.", ["policy"]
)
WITHOUT_A_PLACE = Counter(
    "sweepapi_requests_without_a_place",
    "Requests that need a chain or another service, and for which no thread of the partner's share was free.",
    ["mode"],
)
WRONG_SECRETS = Counter(
    "sweepapi_wrong_secrets",
    "Keys that were refused, by the id of the key; unknown is for what names no key.",
    ["key_id"],
)

# --- The console ------------------------------------------------------------------------------------------------------
LOGINS = Counter("sweepapi_logins", "Logins by password: succeeded, failed, or refused after too many.", ["outcome"])

# --- Sweeps -----------------------------------------------------------------------------------------------------------
STATUS_CHANGES = Counter(
    "sweepapi_status_changes", "Sweeps that got a status after they were built.", ["network", "status"]
)
VOLUME = Counter(
    "sweepapi_volume_dollars", "What sweeps brought before the fee, at the prices of their offers.", ["network"]
)
FEES = Counter("sweepapi_fees_dollars", "The fees of it, of partner and protocol together.", ["network"])
WAITING = Gauge(
    "sweepapi_waiting_sweeps",
    "Sweeps that wait for an operator, by the queue of the console's home.",
    ["queue"],
    multiprocess_mode="mostrecent",
)

# --- The loop, Celery -------------------------------------------------------------------------------------------------
TASKS = Counter("sweepapi_tasks", "Runs of tasks by outcome.", ["name", "outcome"])
TASK_SECONDS = Histogram("sweepapi_task_seconds", "How long the runs took.", ["name"])
JOBS = Counter("sweepapi_jobs", "Rounds of the jobs of the loop by outcome.", ["name", "outcome"])
JOB_SECONDS = Histogram("sweepapi_job_seconds", "How long the rounds took.", ["name"])
SETTLE_SECONDS = Histogram("sweepapi_settle_seconds", "How long settling took, without the reads of the chain.")
ACCEPTANCE_SECONDS = Histogram(
    "sweepapi_acceptance_seconds",
    "From the report of a transaction to its acceptance, mining included.",
    buckets=(0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900),
)

ONE_WORD_ACCEPTANCES = Counter(
    "sweepapi_acceptances_on_one_word",
    "Executions that were accepted although only one provider of several showed them.",
    ["network"],
)

# --- Webhooks ---------------------------------------------------------------------------------------------------------
WEBHOOK_ATTEMPTS = Counter("sweepapi_webhook_attempts", "Attempts to deliver a message by outcome.", ["outcome"])
WEBHOOKS_DUE = Gauge(
    "sweepapi_webhooks_due", "Deliveries that are due, counted up to 10,000.", multiprocess_mode="mostrecent"
)
OLDEST_WEBHOOK = Gauge(
    "sweepapi_webhook_oldest_due_seconds",
    "For how long the oldest message to dispatch, or delivery to attempt, waits.",
    multiprocess_mode="mostrecent",
)

# --- Providers --------------------------------------------------------------------------------------------------------
_PROVIDER = ["network", "provider"]
RPC_CALLS = Counter("sweepapi_rpc_calls", "Calls of providers by outcome.", [*_PROVIDER, "method", "outcome"])
RPC_SECONDS = Histogram("sweepapi_rpc_request_seconds", "How long batches of calls took.", _PROVIDER)
PROVIDER_ANSWER = Gauge(readiness.ANSWERED, "When a provider last answered.", _PROVIDER, multiprocess_mode="max")
PROVIDER_FAILURE = Gauge(readiness.FAILED, "When a provider last failed.", _PROVIDER, multiprocess_mode="max")

NETWORK_AVAILABLE = Gauge(
    "sweepapi_network_available",
    "1 if sweeps can be built on the network, as /v2/status and /v1/status say it; otherwise 0.",
    ["network"],
    multiprocess_mode="mostrecent",
)
SCHEDULED = Gauge(
    "sweepapi_scheduled_operations",
    "Operations that wait for their delay on the contracts' manager; announced are those of the signed change file.",
    ["network", "announced"],
    multiprocess_mode="mostrecent",
)
SCHEDULED_READ = Gauge(
    "sweepapi_scheduled_operations_timestamp_seconds",
    "When they were last read.",
    ["network"],
    multiprocess_mode="max",
)

# --- State ------------------------------------------------------------------------------------------------------------
LINES = Counter("sweepapi_log_lines", "Lines of the log by what they say; ``lines`` lists which.", ["event"])
CHECKS = Gauge(
    readiness.CHECK,
    "When a check of /readyz last passed; 0 if it has failed since.",
    ["check"],
    multiprocess_mode="max",
)
HEARTBEATS = Gauge(
    "sweepapi_heartbeat_timestamp_seconds",
    "When the loop, its webhooks, Celery and beat were last at work.",
    ["process"],
    multiprocess_mode="max",
)
FIGURES = Gauge(
    "sweepapi_figure_timestamp_seconds",
    "When each of the figures below was last measured.",
    ["figure"],
    multiprocess_mode="max",
)
OLDEST_DUE = Gauge(
    "sweepapi_oldest_due_seconds", "For how long the oldest due sweep waits.", multiprocess_mode="mostrecent"
)
DUE = Gauge("sweepapi_due_sweeps", "Sweeps that are due, counted up to 10,000.", multiprocess_mode="mostrecent")
QUEUE = Gauge("sweepapi_queue_messages", "Messages in the broker.", ["state"], multiprocess_mode="mostrecent")
FLAGGED = Gauge(
    "sweepapi_flagged_sweeps",
    "Sweeps with a flag to review that no one has acknowledged.",
    ["flag"],
    multiprocess_mode="mostrecent",
)
CONTRADICTED = Gauge(
    "sweepapi_contradicted_transactions",
    "Transactions that one provider shows and another one has contradicted for over a minute.",
    multiprocess_mode="mostrecent",
)
UNBALANCED = Gauge(
    "sweepapi_ledger_unbalanced_entries",
    "Journal entries whose postings do not sum to zero.",
    multiprocess_mode="mostrecent",
)
UNNUMBERED = Gauge(
    "sweepapi_ledger_unnumbered_seconds",
    "For how long the oldest journal entry without a number waits for it.",
    multiprocess_mode="mostrecent",
)
UNSIGNED = Gauge(
    "sweepapi_statements_unsigned_seconds",
    "For how long the oldest month that is over waits for its signed statement.",
    multiprocess_mode="mostrecent",
)
DIFFERING_TREES = Gauge(
    "sweepapi_statements_differing_trees",
    "Trees of statements that are not signed any more, because their entries are not those that were signed.",
    multiprocess_mode="mostrecent",
)
UNMATCHED = Gauge(
    "sweepapi_unmatched_events",
    "Events of our contracts that match nothing and are not explained yet.",
    ["network"],
    multiprocess_mode="mostrecent",
)
DIFFERENCES = Gauge(
    "sweepapi_books_differences",
    "Differences between the books and the chain, at the last daily comparison.",
    ["network"],
    multiprocess_mode="mostrecent",
)
COMPARED = Gauge(
    "sweepapi_books_compared_timestamp_seconds",
    "When the books were last compared with the chain.",
    ["network"],
    multiprocess_mode="max",
)
SIGNER_BALANCE = Gauge(
    "sweepapi_fee_signer_balance_wei", "What the fee signer has for gas.", ["network"], multiprocess_mode="mostrecent"
)


@contextmanager
def counted_build(network: str) -> Iterator[None]:
    """Count the build that runs within the block by its outcome."""
    outcome = "internal_error"
    try:
        yield
        outcome = "built"
    except SweepApiError as error:
        outcome = code_of(error)
        raise
    finally:
        BUILDS.labels(network, outcome).inc()


def code_of(error: SweepApiError) -> str:
    """Return the code of an error, after which its class is named."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
