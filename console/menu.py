"""The console's menu: by what operators do, not by how tables are called."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

# Title, icon, page, and the permission without which the line is not shown.
JOBS: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "Sweeps": (
        ("Sweeps", "swap_horiz", "sweeps_sweep_changelist", "sweeps.view_sweep"),
        ("Unmatched events", "help", "evm_unmatchedevent_changelist", "evm.view_unmatchedevent"),
        ("Build stops", "front_hand", "sweeps_buildstop_changelist", "sweeps.view_buildstop"),
    ),
    "Partners": (
        ("Partners", "handshake", "partners_partner_changelist", "partners.view_partner"),
        ("API keys", "key", "partners_apikey_changelist", "partners.view_apikey"),
        ("Webhook endpoints", "webhook", "partners_webhookendpoint_changelist", "partners.view_webhookendpoint"),
        ("Webhook deliveries", "outbox", "partners_webhookdelivery_changelist", "partners.view_webhookdelivery"),
    ),
    "Money": (
        ("Balances and payouts", "account_balance", "ledger_partnerbooks_changelist", "ledger.view_partnerbooks"),
        ("Payouts made", "payments", "ledger_payout_changelist", "ledger.view_payout"),
        ("Entries", "receipt_long", "ledger_journalentry_changelist", "ledger.view_journalentry"),
        ("Accounts", "account_tree", "ledger_account_changelist", "ledger.view_account"),
        ("Checkpoints", "verified", "ledger_checkpoint_changelist", "ledger.view_checkpoint"),
        ("Statement eras", "history_edu", "ledger_statementera_changelist", "ledger.view_statementera"),
    ),
    "Console": (
        ("Users", "group", "auth_user_changelist", "auth.view_user"),
        ("Failed logins", "lock", "console_failedlogins_changelist", "console.view_failedlogins"),
    ),
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the menu as the look takes it, with what this operator may see."""
    home = {"title": "Home", "icon": "home", "link": reverse("admin:index")}
    providers = {"title": "Providers", "icon": "lan", "link": reverse("providers")}
    guide = {"title": "Runbook", "icon": "menu_book", "link": reverse("runbook")}
    groups: list[dict[str, Any]] = [{"items": [home, providers, guide]}]
    for job, lines in JOBS.items():
        items = [
            {"title": title, "icon": icon, "link": reverse(f"admin:{page}")}
            for title, icon, page, permission in lines
            if request.user.has_perm(permission)
        ]
        if items:
            groups.append({"title": job, "separator": True, "items": items})
    return groups
