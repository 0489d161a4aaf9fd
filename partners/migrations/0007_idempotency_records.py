import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("partners", "0006_fewer_indexes"),
    ]

    operations = [
        migrations.CreateModel(
            name="IdempotencyRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mode", models.CharField(max_length=4)),
                ("path", models.CharField(max_length=128)),
                ("key", models.CharField(max_length=255)),
                ("body_digest", models.CharField(max_length=64)),
                ("token", models.UUIDField()),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True),
                ),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("body", models.BinaryField(null=True)),
                (
                    "partner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="partners.partner",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("partner", "mode", "path", "key"), name="idempotency_key_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("body__isnull", True), ("status__isnull", True)),
                            models.Q(("body__isnull", False), ("status__gte", 200), ("status__lt", 300)),
                            _connector="OR",
                        ),
                        name="idempotency_keeps_successes",
                    ),
                ],
            },
        ),
    ]
