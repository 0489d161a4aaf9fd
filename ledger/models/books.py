"""A partner as the ledger's pages show it."""

from partners.models import Partner


class PartnerBooks(Partner):
    """What a partner earned and was paid; a proxy, so that these pages have permissions of their own."""

    class Meta:
        proxy = True
        verbose_name = verbose_name_plural = "balances"
        default_permissions = ["view"]
        permissions = [("record_payout", "Can record and reverse payouts")]
