"""Who may record and reverse payouts."""

from django.http import HttpRequest

from sweepapi.admin.pages import AdminPages


class PayoutActions(AdminPages):
    """The admin of a page with actions that need the permission ``record``."""

    def has_record_permission(self, request: HttpRequest, _object_id: str | None = None) -> bool:
        """Require the permission to record payouts as well as that to view the page."""
        return self.has_view_permission(request) and request.user.has_perm("ledger.record_payout")
