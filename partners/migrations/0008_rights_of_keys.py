import os

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import partners.client_address

# What every key could do before; each was issued, and accepted, in the mode of its deployment.
ALL_SCOPES = ["build", "read", "confirm", "ledger"]
MODE_SO_FAR = os.environ.get("API_KEY_MODE", "live")


class Migration(migrations.Migration):
    dependencies = [
        ("partners", "0007_idempotency_records"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="mode",
            field=models.CharField(
                choices=[("live", "Live"), ("test", "Test")],
                default=MODE_SO_FAR,
                help_text="Test keys reach sandbox networks only, live keys all others.",
                max_length=4,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="apikey",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=16),
                default=ALL_SCOPES,
                help_text="What the key may do; its partner is shown to every key.",
                size=None,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="apikey",
            name="allowed_ips",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=43, validators=[partners.client_address.validate_network]),
                blank=True,
                default=list,
                help_text="Addresses and networks in CIDR notation from which the key works; empty: from anywhere.",
                size=None,
                verbose_name="allowed IPs",
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="replaced_by",
            field=models.OneToOneField(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="replaces",
                to="partners.apikey",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("mode__in", ["live", "test"])), name="api_key_mode_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("scopes__contained_by", ["build", "read", "confirm", "ledger", "webhooks"]),
                    models.Q(("scopes", []), _negated=True),
                ),
                name="api_key_scopes_are_known",
            ),
        ),
    ]
