"""Replaces the checks of addresses, networks and hashes by equal ones that take a tenth of the time.

PostgreSQL evaluates every check of a row whenever any of its columns changes.
"""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from sweepapi.fields import AccountAddressField, NetworkField, TransactionHashField

_Field = type[AccountAddressField[str, str] | NetworkField[str, str] | TransactionHashField[str, str]]

COLUMNS: dict[str, dict[str, _Field]] = {
    "sweeps_sweep": {
        "network": NetworkField,
        "wallet": AccountAddressField,
        "output_asset": AccountAddressField,
        "partner_recipient": AccountAddressField,
        "protocol_recipient": AccountAddressField,
    },
    "sweeps_sweeptoken": {"asset": AccountAddressField},
    "sweeps_execution": {"network": NetworkField, "venue": AccountAddressField},
    "sweeps_sweeptransaction": {"tx_hash": TransactionHashField},
    "sweeps_sweepevent": {"tx_hash": TransactionHashField},
}


def replace_checks(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    for table, columns in COLUMNS.items():
        changes = (
            f"DROP CONSTRAINT {table}_{column}_check,"
            f" ADD CONSTRAINT {table}_{column}_check CHECK ({field.condition.format(column)})"
            for column, field in columns.items()
        )
        editor.execute(f"ALTER TABLE {table} {', '.join(changes)}")


class Migration(migrations.Migration):
    dependencies = [
        ("sweeps", "0012_due_by_urgency"),
    ]

    operations = [migrations.RunPython(replace_checks, migrations.RunPython.noop)]
