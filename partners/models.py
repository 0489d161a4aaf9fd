"""Partners, their payout wallets and their API keys.

A partner's fee share and payout wallets are part of every fee authorization signed for it and never come from a
request. Shares have a history, since a change is effective from a time on, and so do wallets, since a payout may have
been sent before one was replaced. Partners and keys are not deleted, since sweeps and the ledger refer to them: a key
is revoked, a partner suspended.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models import F, Min, Q, QuerySet, Subquery
from django.db.models.functions import Greatest, Now
from django.utils import timezone
from uuid_utils.compat import uuid7

from partners import keys, triggers
from partners.client_address import MAX_NETWORK_LENGTH, validate_network
from partners.limits import validate_limits
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.fields import AccountAddressField, AddressField, NetworkField
from sweepapi.modes import Mode
from sweepapi.postgres.triggers import append_only
from sweepapi.solana.encoding.addresses import SYSTEM

FULL_SHARE_BPS = 10_000
LAST_USED_RESOLUTION = timedelta(minutes=1)
DEFAULT_OVERLAP = timedelta(hours=24)  # of a rotated key and its successor
LATEST = datetime.max.replace(tzinfo=UTC)  # which some write for a key that does not expire
SCOPES = ("build", "read", "confirm", "ledger", "webhooks")


class Partner(models.Model):
    """A business that builds sweeps for its users and earns a share of the platform fee.

    Its first ``FeeShare``, effective at once, is stored in the same transaction.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        SUSPENDED = "suspended"  # its keys are refused

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=120, unique=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACTIVE)
    payout_wallet = AddressField(help_text="Receives the partner's fees on every EVM chain that has no wallet below.")
    rate_limits = models.JSONField(
        default=dict,
        blank=True,
        validators=[validate_limits],
        help_text='Limits of one key that differ from the defaults, as {"build": {"perSecond": 40, "burst": 120}}, of '
        "build, discover, read and refused (bodies). All keys together may send four times that.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        permissions = [("suspend_partner", "Can suspend partners, and reactivate them")]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=["active", "suspended"]), name="partner_status_is_known"),
            models.CheckConstraint(
                condition=~Q(payout_wallet=ZERO_ADDRESS),
                name="partner_payout_wallet_is_not_zero",
                violation_error_message="Fees sent to the zero address are lost.",
            ),
        ]
        triggers = [triggers.partner_has_a_share, triggers.former_default_is_kept]

    def __str__(self) -> str:
        return self.name

    def become(self, status: str) -> bool:
        """Suspend or reactivate the partner from the next request on; returns whether that changed anything."""
        others = Partner.objects.filter(pk=self.pk).exclude(status=status)
        return others.update(status=status, updated_at=Now()) > 0

    @property
    def onchain_id(self) -> str:
        """The partner's id in contracts and events: the UUID's 16 bytes and 16 zero bytes, as 0x and 64 hex digits."""
        return f"0x{self.id.hex}{'00' * 16}"

    def share_bps_at(self, time: datetime | Now) -> int:
        """Return the partner's share of the fee of a sweep that is built at this time."""
        return self.shares_at(time)[:1].get().share_bps

    def shares_at(self, time: datetime | Now) -> "QuerySet[FeeShare]":
        """Return the current share and those before it, the current one first; there always is one.

        The first share has no beginning: its time is by the clock of another host, which may be ahead.
        """
        of_partner = self.fee_shares.order_by().values("partner")
        first = Subquery(of_partner.annotate(first=Min("effective_from")).values("first"))
        shares = self.fee_shares.filter(effective_from__lte=Greatest(time, first))
        return shares.order_by("-effective_from", "-id")

    def next_share_after(self, time: datetime) -> "FeeShare | None":
        """Return the next scheduled share."""
        return self.fee_shares.filter(effective_from__gt=time).order_by("effective_from", "-id").first()

    def recipient_on(self, network: str) -> str | None:
        """Return the wallet that receives the partner's fees on a network; the default one serves EVM networks only."""
        overrides = {wallet.network: wallet.address for wallet in self.payout_wallets.all()}
        default = self.payout_wallet if network.startswith("eip155:") else None
        return overrides.get(network, default)

    def former_wallets_on(self, network: str) -> "list[FormerWallet]":
        """Return the wallets that received the partner's fees on a network before, the last one first."""
        was_used = Q(network=network)
        if network.startswith("eip155:"):
            was_used |= Q(network=None)
        return list(self.former_wallets.filter(was_used).exclude(address=self.recipient_on(network)))


class FeeShare(models.Model):
    """A partner's share of the platform fee from a time on, until the next row's time. Rows are never changed.

    Of several rows with the same time the last one counts, so a scheduled share is corrected by another row.
    """

    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="fee_shares")
    share_bps = models.PositiveIntegerField(
        "share (bps)", help_text="The partner's share of the platform fee; 10,000 is all of it."
    )
    effective_from = models.DateTimeField(blank=True, help_text="In UTC; empty to start now.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-effective_from", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(share_bps__gte=0, share_bps__lte=FULL_SHARE_BPS),
                name="fee_share_is_in_range",
                violation_error_message="The fee share must be between 0 and 10,000 bps.",
            ),
            models.CheckConstraint(
                condition=Q(effective_from__gte=F("created_at")),
                name="fee_share_is_not_effective_in_the_past",
                violation_error_code="effective_in_the_past",
                violation_error_message=(
                    "The time has passed, and sweeps were built with the earlier share. Leave it empty to start now."
                ),
            ),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.share_bps} bps from {self.effective_from:%Y-%m-%d %H:%M:%S} UTC"

    def save(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 Django's signature
        """Make a share without a time effective at once."""
        self.effective_from = self.effective_from or self.created_at
        super().save(*args, **kwargs)

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        """Compare the times in forms, too, which exclude ``created_at`` because they do not show it."""
        super().validate_constraints(exclude={*(exclude or ())} - {"created_at"})


class PayoutWallet(models.Model):
    """The wallet that receives a partner's fees on one network, instead of the partner's default."""

    partner = models.ForeignKey(Partner, on_delete=models.CASCADE, related_name="payout_wallets", db_index=False)
    network = NetworkField()
    address = AccountAddressField()

    class Meta:
        ordering = ["network"]
        constraints = [
            models.UniqueConstraint(fields=["partner", "network"], name="payout_wallet_is_unique_per_network"),
            models.CheckConstraint(
                condition=Q(network__startswith="eip155:", address__startswith="0x")
                | (~Q(network__startswith="eip155:") & ~Q(address__startswith="0x")),
                name="payout_wallet_fits_its_network",
                violation_error_message="An EVM network takes an EVM address, and Solana takes a base58 key.",
            ),
            models.CheckConstraint(
                condition=~Q(address__in=[ZERO_ADDRESS, str(SYSTEM)]),
                name="payout_wallet_is_not_zero",
                violation_error_message="Fees sent to the zero address are lost.",
            ),
        ]
        triggers = [triggers.replaced_default_is_kept, triggers.former_wallet_is_kept]

    def __str__(self) -> str:
        return f"{self.address} on {self.network}"


class FormerWallet(models.Model):
    """A wallet that was the partner's until it was replaced or removed; written by triggers, and never changed.

    A payout that was sent to it before can still be recorded.
    """

    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="former_wallets")
    network = NetworkField(null=True)  # null: it was the default wallet
    address = AccountAddressField()
    until = models.DateTimeField()

    class Meta:
        ordering = ["-until", "-id"]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.address}, until {self.until:%Y-%m-%d %H:%M:%S} UTC"


class ApiKey(models.Model):
    """A key that authenticates a partner. Several work at once, so that rotations can overlap."""

    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=120, help_text="Where the key is used, for the person who has to rotate it.")
    mode = models.CharField(
        max_length=4, choices=Mode, help_text="Test keys reach sandbox networks only, live keys all others."
    )
    scopes = ArrayField(
        models.CharField(max_length=16), help_text="What the key may do; its partner is shown to every key."
    )
    allowed_ips = ArrayField(
        models.CharField(max_length=MAX_NETWORK_LENGTH, validators=[validate_network]),
        verbose_name="allowed IPs",
        default=list,
        blank=True,
        help_text="Addresses and networks in CIDR notation from which the key works; empty: from anywhere.",
    )
    key_id = models.CharField(max_length=keys.KEY_ID_LENGTH, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)  # null: does not expire
    revoked_at = models.DateTimeField(null=True, editable=False)  # null: not revoked
    last_used_at = models.DateTimeField(null=True, editable=False)  # null: never used; accurate to a minute
    replaced_by = models.OneToOneField(  # null: not rotated
        "self", on_delete=models.PROTECT, null=True, editable=False, related_name="replaces"
    )

    plaintext = ""  # not a column: the admin keeps it between issuing a key and showing it

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "API key"
        constraints = [
            models.CheckConstraint(condition=Q(mode__in=Mode.values), name="api_key_mode_is_known"),
            models.CheckConstraint(
                condition=Q(scopes__contained_by=list(SCOPES)) & ~Q(scopes=[]), name="api_key_scopes_are_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.key_id})"

    @classmethod
    def issue(cls, *, partner: Partner, name: str, mode: str, **limits: Any) -> tuple[Self, str]:  # noqa: ANN401 Django's
        """Store a new key and return it with its plaintext, which cannot be recovered later.

        The ``limits`` are ``scopes`` (by default, all), ``allowed_ips`` and ``expires_at`` (by default, none).
        """
        api_key = cls(partner=partner, name=name, mode=mode, **{"scopes": list(SCOPES), **limits})
        plaintext = api_key.generate_secret()
        api_key.save(force_insert=True)
        return api_key, plaintext

    def generate_secret(self) -> str:
        """Set this unsaved key's id and digest, and return the plaintext."""
        new = keys.generate(Mode(self.mode))
        self.key_id = new.key_id
        self.digest = keys.digest_of(new.plaintext, pepper=settings.API_KEY_PEPPER)
        return new.plaintext

    def rotate(self, *, overlap: timedelta) -> tuple[Self, str]:
        """Issue a successor that may do the same, and let this key expire after the overlap.

        The successor of a key that expires lives as long as this one should have. Returns the successor with its
        plaintext; raises ``ValueError`` if this key is revoked, expired or rotated.
        """
        with transaction.atomic():
            old = type(self).objects.select_for_update(of=("self",)).select_related("partner").get(pk=self.pk)
            now = timezone.now()
            state = old.state(now)
            if state != "live":
                raise ValueError(f"The key is {state}.")
            if old.replaced_by is not None:
                raise ValueError(f"The key was replaced by {old.replaced_by.key_id}.")
            successor, plaintext = self.issue(
                partner=old.partner,
                name=old.name,
                mode=old.mode,
                scopes=old.scopes,
                allowed_ips=old.allowed_ips,
                expires_at=None if old.expires_at is None else now + min(old.expires_at - old.created_at, LATEST - now),
            )
            old.replaced_by, old.expires_at = successor, min(old.expires_at or now + overlap, now + overlap)
            old.save(update_fields=["replaced_by", "expires_at"])
        return successor, plaintext

    def revoke(self) -> None:
        """Refuse this key from now on. A second call keeps the time of the first."""
        now = timezone.now()
        type(self).objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now)
        self.refresh_from_db(fields=["revoked_at"])

    def state(self, now: datetime) -> str:
        """Return ``live``, ``revoked`` or ``expired``."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "live"

    @classmethod
    def touch(cls, pk: int, at: datetime) -> None:
        """Record that a key was used then, unless a use within the minute before is recorded."""
        outdated = Q(last_used_at=None) | Q(last_used_at__lte=at - LAST_USED_RESOLUTION)
        cls.objects.filter(outdated, pk=pk).update(last_used_at=at)


class IdempotencyRecord(models.Model):
    """A request that was sent under an Idempotency-Key, and its answer if it succeeded; purged after a day.

    Without an answer, the request that has the token is at work, or its process died.
    """

    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="+", db_index=False)
    mode = models.CharField(max_length=4)  # of the API key
    path = models.CharField(max_length=128)
    key = models.CharField(max_length=255)
    body_digest = models.CharField(max_length=64)
    token = models.UUIDField()
    started_at = models.DateTimeField(db_default=Now(), db_index=True)
    status = models.PositiveSmallIntegerField(null=True)  # null until it is answered
    body = models.BinaryField(null=True)  # null with the status

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["partner", "mode", "path", "key"], name="idempotency_key_once"),
            models.CheckConstraint(
                condition=Q(status__isnull=True, body__isnull=True)
                | Q(status__gte=200, status__lt=300, body__isnull=False),
                name="idempotency_keeps_successes",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.partner_id} for {self.path}"


import_module("partners.webhooks.models")  # which refers to the partner, and which Django finds only here
