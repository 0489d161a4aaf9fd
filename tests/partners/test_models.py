"""What PostgreSQL refuses of partners, wallets and keys, and what of them is never stored."""

from uuid import UUID

import pytest
from django.db import IntegrityError, connection
from django.db.models import ProtectedError

from partners.models import ApiKey, Partner
from tests.factories.partners import PartnerFactory, PayoutWalletFactory

pytestmark = pytest.mark.django_db

ZERO = "0x" + "0" * 40


def test_ids_are_time_ordered_uuids() -> None:
    first, second = PartnerFactory.create(), PartnerFactory.create()
    assert first.pk.version == 7
    assert first.pk < second.pk


def test_the_onchain_id_is_the_uuid_and_zeros_to_32_bytes() -> None:
    partner = PartnerFactory.build(id=UUID("0190a5a4-5b5c-7d5e-8f60-616263646566"))
    assert partner.onchain_id == "0x0190a5a45b5c7d5e8f6061626364656600000000000000000000000000000000"


def test_a_wallet_of_its_own_takes_the_place_of_the_default_on_one_chain(partner: Partner) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, chain_id=10)
    assert partner.recipient_on(10) == wallet.address
    assert partner.recipient_on(1) == partner.payout_wallet


@pytest.mark.parametrize(
    ("facts", "constraint"),
    [
        ({"fee_share_bps": 10_001}, "partner_fee_share_is_a_share"),
        ({"fee_share_bps": -1}, "fee_share"),
        ({"payout_wallet": ZERO}, "partner_payout_wallet_is_not_zero"),
        ({"status": "unknown"}, "partner_status_is_known"),
    ],
)
def test_postgres_refuses_a_partner_that_cannot_be(facts: dict[str, object], constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint):
        PartnerFactory.create(**facts)


@pytest.mark.parametrize("fee_share_bps", [0, 10_000])
def test_a_share_may_be_nothing_or_all(fee_share_bps: int) -> None:
    assert PartnerFactory.create(fee_share_bps=fee_share_bps).fee_share_bps == fee_share_bps


def test_a_chain_has_one_wallet(partner: Partner) -> None:
    PayoutWalletFactory.create(partner=partner, chain_id=1)
    with pytest.raises(IntegrityError, match="payout_wallet_is_one_a_chain"):
        PayoutWalletFactory.create(partner=partner, chain_id=1)


def test_a_wallet_is_not_the_zero_address(partner: Partner) -> None:
    with pytest.raises(IntegrityError, match="payout_wallet_is_not_zero"):
        PayoutWalletFactory.create(partner=partner, address=ZERO)


def test_of_a_key_only_the_id_and_a_keyed_hash_are_stored(partner: Partner) -> None:
    api_key, plaintext = ApiKey.issue(partner=partner, name="tests")
    with connection.cursor() as cursor:
        cursor.execute("SELECT partners_apikey::text FROM partners_apikey")
        [stored] = cursor.fetchone()
    assert plaintext.rsplit("_", 1)[1] not in stored
    assert api_key.key_id in stored
    assert len(api_key.digest) == 64


def test_revoking_twice_keeps_the_first_time(partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="tests")
    api_key.revoke()
    first = api_key.revoked_at
    api_key.revoke()
    assert first is not None
    assert api_key.revoked_at == first


def test_a_partner_with_keys_cannot_be_deleted(partner: Partner, api_key: str) -> None:  # noqa: ARG001
    with pytest.raises(ProtectedError):
        partner.delete()
