"""The process that delivers webhooks is killed, stopped, or loses its database: each message arrives nevertheless."""

import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from threading import Event, Thread
from uuid import UUID, uuid4

import pytest

from dev.processes.process import Program
from partners.webhooks import signing
from tests import webhook_receiver
from tests.factories.sweeps import LOCAL
from tests.resilience.databases import Database
from tests.resilience.engines import STEP_SECONDS, Engines, connect
from tests.webhook_receiver import Receiver, answers

PROCESS = "webhooks"
ENDPOINT = """
INSERT INTO partners_webhookendpoint (id, partner_id, mode, url, description, types, timing, payload, secret,
    former_secret, created_at, is_enabled, disabled_reason, failures)
SELECT %s, id, 'test', %s, '', '{}', 'instant', 'thin', %s, '', now(), true, '', 0 FROM partners_partner
ORDER BY name LIMIT 1
"""
MESSAGE = """
INSERT INTO partners_webhookmessage (id, partner_id, type, network, sweep_ref, sequence, is_final, occurred_at, facts)
SELECT %s, partner_id, 'sweep.completed', %s, %s, 1, false, now(),
    '{"status": "completed", "clientReference": "", "txHash": null}'
FROM partners_webhookendpoint
"""
# As if the lease of the process that was lost had ended.
END_LEASES = "UPDATE partners_webhookdelivery SET next_attempt_at = now() WHERE status = 'pending'"
UNFINISHED = "SELECT count(*) FROM partners_webhookdelivery WHERE status = 'pending' OR lease_token IS NOT NULL"


@pytest.fixture(scope="module")
def receiver(engines: Engines, database: Database) -> Iterator[Receiver]:
    """A partner's server, to which a process of its own delivers."""
    with webhook_receiver.running() as receiver:
        endpoint_id = uuid4()
        execute(
            database, ENDPOINT, endpoint_id, receiver.url, signing.encrypt(signing.generate(), endpoint_id=endpoint_id)
        )
        log = engines.folder / f"{PROCESS}.log"
        argv = [sys.executable, "manage.py", "work", "--jobs", "webhooks"]
        program = Program(name=PROCESS, argv=argv, env={"DATABASE_URL": database.url}, log=log)
        engines.start(program, ready=lambda: "work_ready" in log.read_text())
        yield receiver


@pytest.fixture(autouse=True)
def empty(receiver: Receiver) -> None:
    receiver.received.clear()
    receiver.behave = answers(204)


def execute(database: Database, statement: str, *parameters: object) -> None:
    with connect(database.url) as session:
        session.execute(statement, parameters)


def a_message(database: Database) -> UUID:
    message_id = uuid4()
    execute(database, MESSAGE, message_id, LOCAL, uuid4())
    return message_id


def wait_until_nothing_is_left(engines: Engines, database: Database) -> None:
    def is_done() -> bool:
        with connect(database.url) as session:
            row = session.execute(UNFINISHED).fetchone()
        return row == (0,)

    engines.wait_for(is_done, "the record of the delivery")


def arrived(receiver: Receiver) -> list[str]:
    return [received.headers["webhook-id"] for received in receiver.received]


def test_a_message_whose_process_is_killed_while_it_is_sent_arrives_again(
    receiver: Receiver, engines: Engines, database: Database
) -> None:
    receiver.behave = receiver.hang
    message_id = a_message(database)
    engines.wait_for(lambda: bool(receiver.received), "the first request")
    engines.kill(PROCESS)
    receiver.behave = answers(204)
    engines.start_again(PROCESS)
    execute(database, END_LEASES)
    engines.wait_for(lambda: len(receiver.received) > 1, "the second request")
    wait_until_nothing_is_left(engines, database)
    assert arrived(receiver) == [str(message_id)] * 2


def test_a_process_that_is_stopped_records_what_it_is_sending(
    receiver: Receiver, engines: Engines, database: Database
) -> None:
    may_answer = Event()

    def answer_later(handler: BaseHTTPRequestHandler) -> None:
        may_answer.wait(STEP_SECONDS)
        answers(204)(handler)

    receiver.behave = answer_later
    message_id, log = a_message(database), engines.folder / f"{PROCESS}.log"
    engines.wait_for(lambda: bool(receiver.received), "the request")
    stop = Thread(target=engines.stop_named, args=[PROCESS])
    stop.start()
    engines.wait_for(lambda: "webhooks_stopping" in log.read_text(), "its noticing the signal")
    may_answer.set()
    stop.join()
    wait_until_nothing_is_left(engines, database)
    assert (arrived(receiver), "work_stopped" in log.read_text()) == ([str(message_id)], True)
    engines.start_again(PROCESS)


def test_messages_arrive_after_an_outage_of_the_database(
    receiver: Receiver, engines: Engines, database: Database
) -> None:
    engines.kill("postgres")
    engines.start_again("postgres")
    message_id = a_message(database)
    engines.wait_for(lambda: bool(receiver.received), "the request")
    wait_until_nothing_is_left(engines, database)
    assert set(arrived(receiver)) == {str(message_id)}
