import django.db.models.deletion
from django.db import migrations, models

# Each is a prefix of another index of its table.
SUPERFLUOUS = {
    "evm_leg_offer_id_874347d5": ("evm_leg", "offer_id"),
}


class Migration(migrations.Migration):
    dependencies = [
        ("sweeps", "0008_what_partners_choose"),
        ("evm", "0004_followed_events"),
    ]

    operations = [
        # Only the state alters the fields: Django would check every row against its foreign key again.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="leg",
                    name="offer",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="legs",
                        to="sweeps.offer",
                    ),
                ),
            ],
            database_operations=[
                migrations.RunSQL(f'DROP INDEX "{name}"', f'CREATE INDEX "{name}" ON "{table}" ("{column}")')
                for name, (table, column) in SUPERFLUOUS.items()
            ],
        ),
    ]
