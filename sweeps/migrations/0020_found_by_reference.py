from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sweeps", "0019_adopted"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="sweep",
            index=models.Index(
                condition=models.Q(("client_reference", ""), _negated=True),
                fields=["partner", "client_reference", "-created_at", "-id"],
                name="sweep_of_reference_by_time",
            ),
        ),
    ]
