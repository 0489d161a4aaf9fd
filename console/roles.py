"""The roles of operators: Django's groups, written at each migration from this table, and from nowhere else.

No role can change a role: the pages of people give one of these to others, never to oneself.
"""

from collections.abc import Iterator, Mapping

from django.contrib.auth.models import Group, Permission

VIEWER, SUPPORT, FINANCE, ADMIN = "viewer", "support", "finance", "admin"
# Whose rows every role may see; what people did in the console is among them, people are not.
SEEN_APPS = ("admin", "console", "evm", "evm_v5", "indexer", "ledger", "partners", "solana_v1", "sweeps")
# What one person may do at once, with a reason.
BRAKES = ("sweeps.add_buildstop", "sweeps.change_buildstop", "partners.suspend_partner", "partners.change_apikey")
BEYOND_VIEWING: Mapping[str, tuple[str, ...]] = {
    VIEWER: (),
    SUPPORT: (
        *BRAKES,
        "sweeps.change_sweep",
        "evm.change_unmatchedevent",
        "partners.change_webhookendpoint",
    ),
    FINANCE: (
        "ledger.record_payout",
        "evm.change_unmatchedevent",
    ),
    ADMIN: (
        *BRAKES,
        "sweeps.change_sweep",
        "evm.change_unmatchedevent",
        "partners.change_webhookendpoint",
        "partners.add_partner",
        "partners.change_partner",
        "partners.add_feeshare",
        "partners.add_payoutwallet",
        "partners.change_payoutwallet",
        "partners.delete_payoutwallet",
        "partners.add_apikey",
        "auth.view_user",
        "auth.add_user",
        "auth.change_user",
    ),
}


def write_roles(using: str) -> None:
    """Make each group have exactly its permissions, once all apps' permissions are there."""
    every = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.using(using).select_related("content_type")
    }
    for role, beyond in BEYOND_VIEWING.items():
        group, _ = Group.objects.using(using).get_or_create(name=role)
        group.permissions.set([every[name] for name in (*_viewing(every), *beyond) if name in every])


def _viewing(names: Mapping[str, Permission]) -> Iterator[str]:
    for name in names:
        app, _, codename = name.partition(".")
        if app in SEEN_APPS and codename.startswith("view_"):
            yield name
