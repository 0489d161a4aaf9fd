"""Partners with an endpoint each, messages for them, and the process that delivers."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from uuid import uuid4

from django.db import connection, transaction
from django.utils import timezone

from dev.engines.anvil import CHAIN_ID
from dev.ports import free_port
from dev.processes.process import Program
from dev.processes.supervisor import Supervisor
from lab.bench.webhooks.certificate import HOST, write_certificate
from partners.models import FeeShare, Partner
from partners.webhooks import endpoints
from partners.webhooks.endpoints import Owner
from partners.webhooks.models import WebhookDelivery, WebhookMessage
from sweepapi.modes import Mode
from sweepapi.postgres.sets import Insert, as_row, write

PARTNERS = 20
START_SECONDS = 60
PAYOUT_WALLET = "0x" + "0a" * 20
FACTS = {"status": "completed", "clientReference": "order 7", "txHash": f"0x{'ab' * 32}"}


@dataclass(frozen=True)
class Bench:
    """What the sections share. The last partner's endpoint hangs."""

    supervisor: Supervisor
    partners: list[Partner]
    hanging: Partner
    environment: dict[str, str]

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[Self]:
        """Start the partners' server, and store the partners with their endpoints."""
        with Supervisor(Path(os.environ["DEV_WORLD_FILE"]).parent / "bench") as supervisor:
            certificate, log, port = supervisor.folder / "tls.pem", supervisor.folder / "receiver.log", free_port()
            write_certificate(certificate)
            argv = [sys.executable, "-m", "lab.bench.webhooks.receiver", str(port), str(certificate)]
            supervisor.launch(Program(name="receiver", argv=argv, env={}, log=log))
            supervisor.wait(lambda: "ready" in log.read_text(), within_seconds=START_SECONDS, what="the receiver")
            url = f"https://{HOST}:{port}"
            partners = [_partner(number, f"{url}/hooks") for number in range(PARTNERS)]
            yield cls(supervisor, partners, _partner(PARTNERS, f"{url}/hang"), {"SSL_CERT_FILE": str(certificate)})

    @contextmanager
    def delivering(self) -> Iterator[None]:
        """Run the process that delivers."""
        log = self.supervisor.folder / "webhooks.log"
        log.unlink(missing_ok=True)
        argv = [sys.executable, "manage.py", "work", "--jobs", "webhooks"]
        child = self.supervisor.launch(Program(name="webhooks", argv=argv, env=self.environment, log=log))
        self.supervisor.wait(lambda: "work_ready" in log.read_text(), within_seconds=START_SECONDS, what="the start")
        yield
        self.supervisor.stop(child)

    def send(self, count: int) -> None:
        """Store messages, as many to each partner."""
        self._store([self.partners[number % PARTNERS] for number in range(count)])

    def send_to_hanging(self, count: int) -> None:
        self._store([self.hanging] * count)

    def _store(self, recipients: list[Partner]) -> None:
        now = timezone.now()
        messages = (
            WebhookMessage(
                partner=partner,
                type="sweep.completed",
                network=f"eip155:{CHAIN_ID}",
                sweep_ref=uuid4(),
                sequence=1,
                occurred_at=now,
                facts=FACTS,
            )
            for partner in recipients
        )
        write(Insert(WebhookMessage, [as_row(message) for message in messages]))

    def undelivered(self) -> tuple[int, float]:
        """Return how many messages to the partners that answer are not delivered, and the age of the oldest."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*), COALESCE(EXTRACT(epoch FROM max(statement_timestamp() - occurred_at)), 0)"
                " FROM partners_webhookmessage AS message WHERE partner_id <> %s AND NOT EXISTS ("
                "   SELECT FROM partners_webhookdelivery WHERE message_id = message.id AND status = 'delivered')",
                [self.hanging.id],
            )
            count, seconds = cursor.fetchone()
        return count, float(seconds)

    def delays_seconds(self) -> list[float]:
        """Return how long each delivery took from its message on, in order."""
        done = WebhookDelivery.objects.filter(status="delivered").select_related("message")
        return sorted((one.completed_at - one.message.occurred_at).total_seconds() for one in done if one.completed_at)

    def clear(self) -> None:
        WebhookMessage.objects.all().delete()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE partners_webhookmessage, partners_webhookdelivery, partners_webhookattempt")

    def wait_until_delivered(self, *, within_seconds: float) -> None:
        deadline = time.monotonic() + within_seconds
        while self.undelivered()[0]:
            if time.monotonic() > deadline:
                raise TimeoutError("the messages were not delivered in time")
            time.sleep(0.5)


def _partner(number: int, url: str) -> Partner:
    with transaction.atomic():
        partner = Partner.objects.create(name=f"Webhooks {number}", payout_wallet=PAYOUT_WALLET)
        FeeShare.objects.create(partner=partner, share_bps=4000)
    endpoints.create(Owner(partner.id, Mode.TEST), {"url": url})
    return partner
