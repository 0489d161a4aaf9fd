from django.db import migrations, models

import sweepapi.fields


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0006_entry_numbers"),
    ]

    operations = [
        migrations.AddField(
            model_name="journalentry",
            name="wallet",
            field=sweepapi.fields.AccountAddressField(null=True),
        ),
        migrations.RemoveIndex(
            model_name="journalentry",
            name="entry_by_partner_and_time",
        ),
        migrations.AddIndex(
            model_name="journalentry",
            index=models.Index(fields=["partner", "tx_hash"], name="entry_by_transaction"),
        ),
        migrations.AddIndex(
            model_name="journalentry",
            index=models.Index(
                condition=models.Q(("wallet__isnull", False)), fields=["partner", "wallet"], name="entry_by_wallet"
            ),
        ),
        migrations.AddIndex(
            model_name="journalentry",
            index=models.Index(
                condition=models.Q(("kind", "sweep_fee"), _negated=True),
                fields=["partner", "kind"],
                name="entry_by_rare_kind",
            ),
        ),
    ]
