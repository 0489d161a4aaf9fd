"""Partners, their payout wallets and their API keys.

A partner's fee share and payout wallets enter every fee authorization signed for it; nothing of them ever comes from
a request. Partners and keys are never deleted: sweeps and books refer to them. A key is revoked, a partner suspended.
"""

import hmac
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from uuid_utils.compat import uuid7

from partners import keys
from sweepapi.evm.addresses import ZERO_ADDRESS
from sweepapi.evm.v5 import BPS_DENOMINATOR
from sweepapi.fields import AddressField

LAST_USED_RESOLUTION = timedelta(minutes=1)
# Every key may do all of this until keys have scopes of their own.
SCOPES = ("build", "read", "confirm", "ledger")


class Partner(models.Model):
    """A business that builds sweeps for its users and earns a share of the platform fee."""

    class Status(models.TextChoices):
        """Whether the partner's keys are let in."""

        ACTIVE = "active"
        SUSPENDED = "suspended"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=120, unique=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    fee_share_bps = models.PositiveIntegerField(
        "fee share (bps)", default=0, help_text="The partner's share of the platform fee; 10,000 is all of it."
    )
    payout_wallet = AddressField(help_text="Receives the partner's fees on every chain without a wallet of its own.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=["active", "suspended"]), name="partner_status_is_known"),
            models.CheckConstraint(
                condition=Q(fee_share_bps__gte=0, fee_share_bps__lte=BPS_DENOMINATOR),
                name="partner_fee_share_is_a_share",
                violation_error_message="The fee share lies between 0 and 10,000 bps.",
            ),
            models.CheckConstraint(
                condition=~Q(payout_wallet=ZERO_ADDRESS),
                name="partner_payout_wallet_is_not_zero",
                violation_error_message="Fees sent to the zero address are lost.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def onchain_id(self) -> str:
        """Return the partner's id as contracts see it: a bytes32 as 0x and 64 hex digits.

        The UUID's 16 bytes stand first and 16 zero bytes follow, so that anyone can read one form off the other.
        """
        return f"0x{self.id.hex}{'00' * 16}"

    def recipient_on(self, chain_id: int) -> str:
        """Return the wallet (EIP-55) that receives the partner's fees on a chain."""
        overrides = {wallet.chain_id: wallet.address for wallet in self.payout_wallets.all()}
        return overrides.get(chain_id, self.payout_wallet)


class PayoutWallet(models.Model):
    """The wallet that receives a partner's fees on one chain, in place of the partner's default."""

    partner = models.ForeignKey(Partner, on_delete=models.CASCADE, related_name="payout_wallets")
    chain_id = models.PositiveBigIntegerField()
    address = AddressField()

    class Meta:
        ordering = ["chain_id"]
        constraints = [
            models.UniqueConstraint(fields=["partner", "chain_id"], name="payout_wallet_is_one_a_chain"),
            models.CheckConstraint(
                condition=~Q(address=ZERO_ADDRESS),
                name="payout_wallet_is_not_zero",
                violation_error_message="Fees sent to the zero address are lost.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address} on chain {self.chain_id}"


class ApiKey(models.Model):
    """A key that speaks for a partner. Several may be live at once, so that rotation can overlap."""

    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=120, help_text="Where the key is used, for whoever has to rotate it.")
    key_id = models.CharField(max_length=keys.KEY_ID_LENGTH, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)  # null: does not expire
    revoked_at = models.DateTimeField(null=True, editable=False)  # null: not revoked
    last_used_at = models.DateTimeField(null=True, editable=False)  # null: never used; to the minute

    plaintext = ""  # no column: held by the admin between making a key and showing it

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.name} ({self.key_id})"

    @classmethod
    def issue(cls, *, partner: Partner, name: str, expires_at: datetime | None = None) -> tuple[Self, str]:
        """Store a new key and return it with its plaintext, which cannot be had again."""
        api_key = cls(partner=partner, name=name, expires_at=expires_at)
        plaintext = api_key.take_new_secret()
        api_key.save(force_insert=True)
        return api_key, plaintext

    def take_new_secret(self) -> str:
        """Give this unsaved key its id and digest and return the plaintext."""
        new = keys.generate(settings.API_KEY_MODE)
        self.key_id = new.key_id
        self.digest = keys.digest_of(new.plaintext, pepper=settings.API_KEY_PEPPER)
        return new.plaintext

    def revoke(self) -> None:
        """Refuse this key from now on. Revoking twice keeps the first time."""
        now = timezone.now()
        type(self).objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now)
        self.refresh_from_db(fields=["revoked_at"])

    def state(self, now: datetime) -> str:
        """Return ``live``, ``revoked`` or ``expired``."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "live"

    def matches(self, plaintext: str) -> bool:
        """Compare a presented key with the stored digest in constant time."""
        return hmac.compare_digest(self.digest, keys.digest_of(plaintext, pepper=settings.API_KEY_PEPPER))

    def touch(self, now: datetime) -> None:
        """Note the use of the key, at most once a minute, so that busy keys do not write on every request."""
        stale = now - LAST_USED_RESOLUTION
        if self.last_used_at is None or self.last_used_at <= stale:
            unnoted = Q(last_used_at=None) | Q(last_used_at__lte=stale)
            type(self).objects.filter(unnoted, pk=self.pk).update(last_used_at=now)
