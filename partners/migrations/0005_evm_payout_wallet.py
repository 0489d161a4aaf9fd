from django.db import migrations

import sweepapi.fields


class Migration(migrations.Migration):
    dependencies = [
        ("partners", "0004_wallets_on_solana"),
    ]

    operations = [
        migrations.AlterField(
            model_name="partner",
            name="payout_wallet",
            field=sweepapi.fields.AddressField(
                help_text="Receives the partner's fees on every EVM chain that has no wallet below."
            ),
        ),
    ]
