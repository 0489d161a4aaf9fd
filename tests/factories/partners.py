"""Creates partners and their wallets."""

import secrets

from factory.declarations import LazyFunction, Sequence, SubFactory
from factory.django import DjangoModelFactory

from partners.models import Partner, PayoutWallet


def random_address() -> str:
    """Return an EVM address, in lower case, whose key does not exist."""
    return f"0x{secrets.token_hex(20)}"


class PartnerFactory(DjangoModelFactory[Partner]):
    """An active partner that gets 40 % of the platform fee."""

    class Meta:
        model = Partner

    name = Sequence(lambda number: f"Partner {number}")
    fee_share_bps = 4000
    payout_wallet = LazyFunction(random_address)


class PayoutWalletFactory(DjangoModelFactory[PayoutWallet]):
    """A wallet for the fees on Base."""

    class Meta:
        model = PayoutWallet

    partner = SubFactory(PartnerFactory)
    network = "eip155:8453"
    address = LazyFunction(random_address)
