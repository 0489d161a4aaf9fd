"""Fills the database of the local world: tables, the roles' grants, an administrator, partners and their keys.

Runs as the database owner in its own process, ``python -m dev.seed``. It reads its task as JSON from standard input
and prints the two API keys as JSON; the database stores only their hashes.
"""

import json
import os
import sys

import django
from django.core.management import call_command
from django.db import transaction

PARTNERS = (("Aurora Wallet", 4000), ("Borealis Pay", 2000))  # name, share of the platform fee in bps


def main() -> None:
    task = json.load(sys.stdin)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.console.settings"  # whose key encrypts the administrator's factor
    django.setup()
    call_command("migrate", verbosity=0)
    for role, options in task["roles"].items():
        call_command("grant_runtime_role", role, *options, stdout=sys.stderr)
    _seed_admin(**task["admin"])
    print(json.dumps([_seed_partner(*facts, **paid) for facts, paid in zip(PARTNERS, task["payouts"], strict=True)]))


def _seed_admin(username: str, password: str, totp_secret: str) -> None:
    from allauth.mfa.models import Authenticator  # noqa: PLC0415 - models exist after django.setup()
    from allauth.mfa.totp.internal.auth import TOTP  # noqa: PLC0415 - models exist after django.setup()
    from django.contrib.auth import get_user_model  # noqa: PLC0415

    user, _ = get_user_model().objects.update_or_create(
        username=username, defaults={"is_staff": True, "is_superuser": True}
    )
    user.set_password(password)
    user.save()
    Authenticator.objects.filter(user=user).delete()
    TOTP.activate(user, totp_secret)


def _seed_partner(name: str, fee_share_bps: int, *, wallet: str, networks: dict[str, str]) -> str:
    """Create the partner or update its wallets, of which some are for one network; returns a new API key."""
    from partners.models import ApiKey, FeeShare, Partner, PayoutWallet  # noqa: PLC0415 - models exist after django.setup()

    with transaction.atomic():
        partner, is_new = Partner.objects.update_or_create(name=name, defaults={"payout_wallet": wallet})
        if is_new:
            FeeShare.objects.create(partner=partner, share_bps=fee_share_bps)
        for network, address in networks.items():
            PayoutWallet.objects.update_or_create(partner=partner, network=network, defaults={"address": address})
    _, plaintext = ApiKey.issue(partner=partner, name="local world", mode="test")
    return plaintext


if __name__ == "__main__":
    main()
