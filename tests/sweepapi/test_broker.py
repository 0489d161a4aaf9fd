"""Every connection to the broker uses our transport, and TLS where its URL says so."""

import pytest
from celery import current_app

from sweepapi.broker import Transport


@pytest.mark.parametrize(("scheme", "encrypted"), [("redis", False), ("rediss", True)])
def test_a_url_leads_to_our_transport_and_keeps_its_encryption(scheme: str, *, encrypted: bool) -> None:
    connection = current_app.connection_for_write(f"{scheme}://:secret@broker.example:6380/0")
    assert isinstance(connection.transport, Transport)
    assert bool(connection.ssl) is encrypted
