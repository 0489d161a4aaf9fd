"""Signatures as Standard Webhooks specifies them, and secrets that only our own keys reveal."""

import base64
import hmac
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django import Settings

from partners.webhooks import signing
from partners.webhooks.models import WebhookEndpoint
from sweepapi.crypto.encryption import UndecryptableError

OLD_KEY, NEW_KEY = "11" * 32, "22" * 32
ID = uuid4()


def test_a_signature_is_that_of_the_specifications_example() -> None:
    shown = signing.signature(
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        at=datetime.fromtimestamp(1614265330.9, UTC),
        body=b'{"test": 2432232314}',
    )
    assert shown == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_has_256_random_bits_in_the_form_of_the_specification() -> None:
    one, other = signing.generate(), signing.generate()
    assert one != other
    assert (one[:6], len(base64.b64decode(one[6:], validate=True))) == ("whsec_", 32)


def test_what_is_stored_does_not_contain_the_secret_and_differs_each_time() -> None:
    secret = signing.generate()
    stored = {signing.encrypt(secret, endpoint_id=ID) for _ in range(2)}
    assert len(stored) == 2
    assert all(secret.encode() not in base64.b64decode(one) for one in stored)
    assert {signing.decrypt(one, endpoint_id=ID) for one in stored} == {secret}


def test_a_replaced_key_still_reads_what_it_encrypted_while_it_is_listed(settings: Settings) -> None:
    settings.WEBHOOK_KEYS = [OLD_KEY]
    stored = signing.encrypt("whsec_old", endpoint_id=ID)
    settings.WEBHOOK_KEYS = [NEW_KEY, OLD_KEY]
    assert signing.decrypt(stored, endpoint_id=ID) == "whsec_old"
    stored_now = signing.encrypt("whsec_new", endpoint_id=ID)
    settings.WEBHOOK_KEYS = [NEW_KEY]
    assert signing.decrypt(stored_now, endpoint_id=ID) == "whsec_new"
    with pytest.raises(UndecryptableError):
        signing.decrypt(stored, endpoint_id=ID)


def test_a_secret_is_of_no_use_in_the_row_of_another_endpoint() -> None:
    stored = signing.encrypt("whsec_x", endpoint_id=ID)
    with pytest.raises(UndecryptableError):
        signing.decrypt(stored, endpoint_id=uuid4())


def test_a_changed_ciphertext_is_refused() -> None:
    packed = bytearray(base64.b64decode(signing.encrypt("whsec_x", endpoint_id=ID)))
    packed[-1] ^= 1
    with pytest.raises(UndecryptableError):
        signing.decrypt(base64.b64encode(packed).decode(), endpoint_id=ID)


def test_both_secrets_sign_until_the_former_one_ends() -> None:
    until = timezone.now()
    endpoint = WebhookEndpoint(
        id=ID,
        secret=signing.encrypt("whsec_bmV3", endpoint_id=ID),
        former_secret=signing.encrypt("whsec_b2xk", endpoint_id=ID),
        former_secret_until=until,
    )
    assert signing.current_secrets(endpoint, now=until - timedelta(seconds=1)) == ["whsec_bmV3", "whsec_b2xk"]
    assert signing.current_secrets(endpoint, now=until) == ["whsec_bmV3"]
    both = signing.signature(["whsec_bmV3", "whsec_b2xk"], message_id="m", at=until, body=b"{}")
    alone = [signing.signature([one], message_id="m", at=until, body=b"{}") for one in ("whsec_bmV3", "whsec_b2xk")]
    assert both.split(" ") == alone


@pytest.mark.parametrize("body", [b"{}", '{"url":"https://partner.example/\u00e4\u20ac\U0001f600"}'.encode()])
def test_a_signature_is_the_mac_that_the_specification_says(body: bytes) -> None:
    secret, now = signing.generate(), timezone.now()
    content = f"msg.{int(now.timestamp())}.".encode() + body
    mac = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), content, "sha256")
    shown = signing.signature([secret], message_id="msg", at=now, body=body)
    assert shown == "v1," + base64.b64encode(mac).decode()
