"""Names the assets that were booked before the ledger stored names, as the first booked sweep knew them."""

from django.db import migrations

NAME_ASSETS = """
    INSERT INTO ledger_asset (network, asset, symbol, decimals)
    SELECT DISTINCT ON (entry.network, entry.asset)
        entry.network, entry.asset, sweep.output_symbol, sweep.output_decimals
    FROM ledger_journalentry entry JOIN sweeps_sweep sweep ON sweep.id = entry.sweep_ref
    WHERE entry.kind = 'sweep_fee'
    ORDER BY entry.network, entry.asset, entry.posted_at, entry.id
    ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0003_assets"),
        ("sweeps", "0003_taken"),
    ]

    operations = [
        migrations.RunSQL(sql=NAME_ASSETS, reverse_sql=migrations.RunSQL.noop),
    ]
