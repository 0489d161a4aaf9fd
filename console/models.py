"""Failed logins by password, one row a minute for each account and address."""

from django.db import models


class FailedLogins(models.Model):
    """How often an account was tried with a wrong password from an address within a minute."""

    account = models.CharField(max_length=150)  # as it was typed, in lower case, whether it exists or not
    address = models.GenericIPAddressField(null=True)  # null: no proxy that we trust says it
    minute = models.DateTimeField()
    count = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "address", "minute"], nulls_distinct=False, name="one_row_a_minute"
            )
        ]
        indexes = [
            models.Index(fields=["minute", "account"]),
            models.Index(fields=["minute", "address"]),
        ]
        default_permissions = ["view"]
        verbose_name = verbose_name_plural = "failed logins"

    def __str__(self) -> str:
        return f"{self.count} of {self.account} at {self.minute:%Y-%m-%d %H:%M}"
