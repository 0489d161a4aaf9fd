"""How many wrong passwords an account and an address may try: counted in the database, for all processes together.

A try is counted before its password is hashed, and uncounted if it was right. So guesses that come at once are limited
as those that come one by one, and a flood costs a query each and no hash.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, QuerySet, Sum
from django.utils import timezone

from console.models import FailedLogins
from partners.client_address import Address

PERIOD = timedelta(hours=1)
OF_AN_ACCOUNT = 30
OF_AN_ADDRESS = 120  # an office has one
KEPT = timedelta(days=30)
_LONGEST = 150
_LOCKS = 33  # no other advisory lock of two numbers has this first one


@dataclass(frozen=True)
class LoginAttempt:
    """A try to log in by password."""

    account: str
    address: Address | None
    minute: datetime

    @classmethod
    def of(cls, account: str, address: Address | None) -> "LoginAttempt":
        return cls(account.lower()[:_LONGEST], address, timezone.now().replace(second=0, microsecond=0))

    def admitted(self) -> bool:
        """Count it as failed, unless account or address have failed too often within the hour."""
        with transaction.atomic():
            self._wait_for_others()
            recent = FailedLogins.objects.filter(minute__gt=self.minute - PERIOD)
            if _sum(recent.filter(account=self.account)) >= OF_AN_ACCOUNT:
                return False
            if _sum(recent.filter(address=self._key["address"])) >= OF_AN_ADDRESS:
                return False
            if not FailedLogins.objects.filter(**self._key).update(count=F("count") + 1):
                FailedLogins.objects.create(**self._key, count=1)
                FailedLogins.objects.filter(minute__lt=self.minute - KEPT).delete()
            return True

    def uncount(self) -> None:
        """Forget it, because it was right."""
        row = FailedLogins.objects.filter(**self._key)
        if not row.filter(count__lte=1).delete()[0]:
            row.update(count=F("count") - 1)

    @property
    def _key(self) -> dict[str, object]:
        address = None if self.address is None else str(self.address)
        return {"account": self.account, "address": address, "minute": self.minute}

    def _wait_for_others(self) -> None:
        """Let tries of one account, or from one address, be counted one after the other."""
        with connection.cursor() as cursor:
            for key in sorted([f"account {self.account}", f"address {self.address}"]):
                cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [_LOCKS, key])


def _sum(rows: QuerySet[FailedLogins]) -> int:
    return int(rows.aggregate(total=Sum("count"))["total"] or 0)
