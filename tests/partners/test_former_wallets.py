"""A wallet that a partner replaces or removes is kept, because payouts may have been sent to it before."""

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from partners.models import FormerWallet, Partner, PayoutWallet
from tests.factories.partners import PartnerFactory, PayoutWalletFactory, random_address
from tests.operator_browser import ConsoleClient, reverse

pytestmark = pytest.mark.django_db

BASE, OPTIMISM = "eip155:8453", "eip155:10"
SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"


def former(partner: Partner, network: str) -> list[str]:
    return [wallet.address for wallet in Partner.objects.get(pk=partner.pk).former_wallets_on(network)]


def replace_default(partner: Partner) -> str:
    """Give the partner another default wallet and return the former one."""
    replaced = partner.payout_wallet
    partner.payout_wallet = random_address()
    partner.save()
    return replaced


def test_a_replaced_default_wallet_was_used_on_every_evm_network(partner: Partner) -> None:
    first, second = replace_default(partner), replace_default(partner)
    assert former(partner, BASE) == former(partner, OPTIMISM) == [second, first]
    assert former(partner, SOLANA) == []
    assert former(PartnerFactory.create(), BASE) == []


def test_a_change_of_anything_else_keeps_no_wallet(partner: Partner) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, network=SOLANA, address="9" * 44)
    partner.name = "Acme"
    partner.save()
    wallet.save()
    assert not FormerWallet.objects.exists()


def test_a_replaced_or_removed_wallet_of_a_network_was_used_there(partner: Partner) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, network=SOLANA, address="9" * 44)
    wallet.address = "8" * 44
    wallet.save()
    assert former(partner, SOLANA) == ["9" * 44]
    wallet.delete()
    assert former(partner, SOLANA) == ["8" * 44, "9" * 44]
    assert former(partner, BASE) == []


def test_the_default_wallet_is_a_former_one_where_a_wallet_of_the_network_replaces_it(partner: Partner) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, network=BASE)
    assert (former(partner, BASE), former(partner, OPTIMISM)) == ([partner.payout_wallet], [])
    PayoutWallet.objects.filter(pk=wallet.pk).update(network=OPTIMISM)
    assert (former(partner, BASE), former(partner, OPTIMISM)) == ([wallet.address], [partner.payout_wallet])


def test_a_wallet_that_is_used_again_is_not_a_former_one(partner: Partner) -> None:
    first = replace_default(partner)
    second = partner.payout_wallet
    partner.payout_wallet = first
    partner.save()
    assert former(partner, BASE) == [second]


def test_former_wallets_are_never_changed(partner: Partner) -> None:
    replace_default(partner)
    for write in (lambda: FormerWallet.objects.update(address=random_address()), FormerWallet.objects.all().delete):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            write()


def test_former_wallets_are_shown_on_the_partners_page(partner: Partner) -> None:
    ops = ConsoleClient()
    ops.force_login(User.objects.create_superuser("ops"))
    replaced = replace_default(partner)
    page = ops.get(reverse("admin:partners_partner_change", args=[partner.pk])).content.decode()
    assert f"{replaced}, until " in page
    assert ops.get(reverse("admin:partners_partner_add")).status_code == 200
