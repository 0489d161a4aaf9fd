import django.db.models.deletion
from django.db import migrations, models

# Each is a prefix of another index of its table.
SUPERFLUOUS = {
    "partners_payoutwallet_partner_id_dc3dc99a": ("partners_payoutwallet", "partner_id"),
}


class Migration(migrations.Migration):
    dependencies = [
        ("partners", "0005_evm_payout_wallet"),
    ]

    operations = [
        # Only the state alters the fields: Django would check every row against its foreign key again.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="payoutwallet",
                    name="partner",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="payout_wallets",
                        to="partners.partner",
                    ),
                ),
            ],
            database_operations=[
                migrations.RunSQL(f'DROP INDEX "{name}"', f'CREATE INDEX "{name}" ON "{table}" ("{column}")')
                for name, (table, column) in SUPERFLUOUS.items()
            ],
        ),
    ]
