"""Creates partners, their fee shares and their wallets."""

import secrets
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from factory.declarations import LazyAttribute, LazyFunction, Sequence, SubFactory
from factory.django import DjangoModelFactory

from partners.authentication import Requester
from partners.models import SCOPES, FeeShare, Partner, PayoutWallet
from sweepapi.modes import Mode

START = datetime(2020, 1, 1, tzinfo=UTC)  # before it no partner of the tests has a share


def random_address() -> str:
    """Return an EVM address, in lower case, whose key does not exist."""
    return f"0x{secrets.token_hex(20)}"


def requester_of(partner: Partner, mode: Mode = Mode.TEST) -> Requester:
    """Return what a key of the partner with all scopes is authenticated as."""
    return Requester("0" * 12, "tests", partner.pk, mode, frozenset(SCOPES))


class FeeShareFactory(DjangoModelFactory[FeeShare]):
    """A share that a partner has from now on; one from an earlier time was recorded at that time."""

    class Meta:
        model = FeeShare

    effective_from = LazyFunction(timezone.now)
    created_at = LazyAttribute(lambda share: min(share.effective_from, timezone.now()))


class PartnerFactory(DjangoModelFactory[Partner]):
    """An active partner that gets 40 % of the platform fee."""

    class Meta:
        model = Partner

    name = Sequence(lambda number: f"Partner {number}")
    fee_share_bps = 4000
    payout_wallet = LazyFunction(random_address)

    @classmethod
    def _create(cls, model_class: type[Partner], *args: Any, fee_share_bps: int, **kwargs: Any) -> Partner:
        """Store the share in the transaction of the partner, as PostgreSQL requires."""
        with transaction.atomic():
            partner: Partner = super()._create(model_class, *args, **kwargs)
            FeeShareFactory.create(partner=partner, share_bps=fee_share_bps, effective_from=START)
        return partner


class PayoutWalletFactory(DjangoModelFactory[PayoutWallet]):
    """A wallet for the fees on Base."""

    class Meta:
        model = PayoutWallet

    partner = SubFactory(PartnerFactory)
    network = "eip155:8453"
    address = LazyFunction(random_address)
