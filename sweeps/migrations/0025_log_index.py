from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sweeps", "0024_sequence_of_webhooks"),
    ]

    operations = [
        migrations.AddField(
            model_name="sweeptransaction",
            name="log_index",
            field=models.PositiveBigIntegerField(blank=True, null=True),
        ),
    ]
