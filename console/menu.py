"""The console's menu: by what operators do, not by how tables are called."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

# Title, icon, page, and the permission without which the line is not shown.
JOBS: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "Sweeps": (
        ("Sweeps", "swap_horiz", "admin:sweeps_sweep_changelist", "sweeps.view_sweep"),
        ("Unmatched events", "help", "admin:evm_unmatchedevent_changelist", "evm.view_unmatchedevent"),
        ("Build stops", "front_hand", "admin:sweeps_buildstop_changelist", "sweeps.view_buildstop"),
    ),
    "Partners": (
        ("Partners", "handshake", "admin:partners_partner_changelist", "partners.view_partner"),
        ("API keys", "key", "admin:partners_apikey_changelist", "partners.view_apikey"),
        ("Webhook endpoints", "webhook", "admin:partners_webhookendpoint_changelist", "partners.view_webhookendpoint"),
        ("Webhook deliveries", "outbox", "admin:partners_webhookdelivery_changelist", "partners.view_webhookdelivery"),
    ),
    "Money": (
        ("Figures", "monitoring", "figures", "ledger.view_journalentry"),
        ("Balances and payouts", "account_balance", "admin:ledger_partnerbooks_changelist", "ledger.view_partnerbooks"),
        ("Payouts made", "payments", "admin:ledger_payout_changelist", "ledger.view_payout"),
        ("Entries", "receipt_long", "admin:ledger_journalentry_changelist", "ledger.view_journalentry"),
        ("Accounts", "account_tree", "admin:ledger_account_changelist", "ledger.view_account"),
        ("Checkpoints", "verified", "admin:ledger_checkpoint_changelist", "ledger.view_checkpoint"),
        ("Statement eras", "history_edu", "admin:ledger_statementera_changelist", "ledger.view_statementera"),
    ),
    "Console": (
        ("Users", "group", "admin:auth_user_changelist", "auth.view_user"),
        ("Failed logins", "lock", "admin:console_failedlogins_changelist", "console.view_failedlogins"),
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
            {"title": title, "icon": icon, "link": reverse(page)}
            for title, icon, page, permission in lines
            if request.user.has_perm(permission)
        ]
        if items:
            groups.append({"title": job, "separator": True, "items": items})
    return groups
