import django.db.models.deletion
from django.db import migrations, models

# Each is a prefix of another index of its table.
SUPERFLUOUS = {
    "sweeps_execution_sweep_id_c3ef8fc2": ("sweeps_execution", "sweep_id"),
    "sweeps_offer_sweep_id_6dde8ada": ("sweeps_offer", "sweep_id"),
    "sweeps_skippedtoken_execution_id_dc0eda2e": ("sweeps_skippedtoken", "execution_id"),
    "sweeps_sweep_partner_id_50a0b1e3": ("sweeps_sweep", "partner_id"),
    "sweeps_sweepevent_sweep_id_529e1e8b": ("sweeps_sweepevent", "sweep_id"),
    "sweeps_sweeptoken_sweep_id_ea0c398b": ("sweeps_sweeptoken", "sweep_id"),
    "sweeps_sweeptransaction_execution_id_4edc72a6": ("sweeps_sweeptransaction", "execution_id"),
}


class Migration(migrations.Migration):
    dependencies = [
        ("partners", "0005_evm_payout_wallet"),
        ("sweeps", "0014_versions"),
    ]

    operations = [
        # Only the state alters the fields: Django would check every row against its foreign key again.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="execution",
                    name="sweep",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="executions",
                        to="sweeps.sweep",
                    ),
                ),
                migrations.AlterField(
                    model_name="offer",
                    name="sweep",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="offers",
                        to="sweeps.sweep",
                    ),
                ),
                migrations.AlterField(
                    model_name="skippedtoken",
                    name="execution",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="skipped",
                        to="sweeps.execution",
                    ),
                ),
                migrations.AlterField(
                    model_name="sweep",
                    name="partner",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sweeps",
                        to="partners.partner",
                    ),
                ),
                migrations.AlterField(
                    model_name="sweepevent",
                    name="sweep",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="events",
                        to="sweeps.sweep",
                    ),
                ),
                migrations.AlterField(
                    model_name="sweeptoken",
                    name="sweep",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tokens",
                        to="sweeps.sweep",
                    ),
                ),
                migrations.AlterField(
                    model_name="sweeptransaction",
                    name="execution",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="transactions",
                        to="sweeps.execution",
                    ),
                ),
            ],
            database_operations=[
                migrations.RunSQL(f'DROP INDEX "{name}"', f'CREATE INDEX "{name}" ON "{table}" ("{column}")')
                for name, (table, column) in SUPERFLUOUS.items()
            ],
        ),
    ]
