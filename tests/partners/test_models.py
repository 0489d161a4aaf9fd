"""What PostgreSQL refuses in partners, wallets and keys, and which part of a key is never stored."""

from uuid import UUID

import pytest
from django.db import IntegrityError, connection
from django.db.models import ProtectedError

from partners.models import ApiKey, Partner
from sweepapi.modes import Mode
from tests.factories.partners import PartnerFactory, PayoutWalletFactory

pytestmark = pytest.mark.django_db

ZERO = "0x" + "0" * 40
SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
SOLANA_WALLET = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"


def test_ids_are_time_ordered_uuids() -> None:
    first, second = PartnerFactory.create(), PartnerFactory.create()
    assert first.pk.version == 7
    assert first.pk < second.pk


def test_the_onchain_id_is_the_uuid_and_zeros_to_32_bytes() -> None:
    partner = Partner(id=UUID("0190a5a4-5b5c-7d5e-8f60-616263646566"))
    assert partner.onchain_id == "0x0190a5a45b5c7d5e8f6061626364656600000000000000000000000000000000"


def test_a_wallet_of_a_network_replaces_the_default_there(partner: Partner) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, network="eip155:10")
    assert partner.recipient_on("eip155:10") == wallet.address
    assert partner.recipient_on("eip155:1") == partner.payout_wallet


def test_a_wallet_may_be_on_solana(partner: Partner) -> None:
    PayoutWalletFactory.create(partner=partner, network=SOLANA, address=SOLANA_WALLET)
    assert partner.recipient_on(SOLANA) == SOLANA_WALLET


def test_the_default_wallet_serves_evm_networks_only(partner: Partner) -> None:
    assert partner.recipient_on(SOLANA) is None


@pytest.mark.parametrize(("network", "address"), [("eip155:1", SOLANA_WALLET), (SOLANA, "0x" + "1" * 40)])
def test_a_wallet_fits_its_network(network: str, address: str) -> None:
    with pytest.raises(IntegrityError, match="payout_wallet_fits_its_network"):
        PayoutWalletFactory.create(network=network, address=address)


@pytest.mark.parametrize(
    ("facts", "constraint"),
    [
        ({"payout_wallet": ZERO}, "partner_payout_wallet_is_not_zero"),
        ({"status": "unknown"}, "partner_status_is_known"),
    ],
)
def test_postgres_refuses_an_invalid_partner(facts: dict[str, object], constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint):
        PartnerFactory.create(**facts)


def test_a_partner_has_one_wallet_per_network(partner: Partner) -> None:
    PayoutWalletFactory.create(partner=partner, network="eip155:1")
    with pytest.raises(IntegrityError, match="payout_wallet_is_unique_per_network"):
        PayoutWalletFactory.create(partner=partner, network="eip155:1")


def test_a_wallet_is_not_the_zero_address(partner: Partner) -> None:
    with pytest.raises(IntegrityError, match="payout_wallet_is_not_zero"):
        PayoutWalletFactory.create(partner=partner, address=ZERO)


def test_only_the_id_and_a_keyed_hash_of_a_key_are_stored(partner: Partner) -> None:
    api_key, plaintext = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    with connection.cursor() as cursor:
        cursor.execute("SELECT partners_apikey::text FROM partners_apikey")
        [stored] = cursor.fetchone()
    assert plaintext.rsplit("_", 1)[1] not in stored
    assert api_key.key_id in stored
    assert len(api_key.digest) == 64


def test_revoking_a_key_again_keeps_the_time_of_the_first_revocation(partner: Partner) -> None:
    api_key, _ = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    api_key.revoke()
    first = api_key.revoked_at
    api_key.revoke()
    assert first is not None
    assert api_key.revoked_at == first


def test_a_partner_cannot_be_deleted(partner: Partner) -> None:
    with pytest.raises(ProtectedError):
        partner.delete()
