from django.db import migrations, models

import partners.limits


class Migration(migrations.Migration):
    dependencies = [
        ("partners", "0008_rights_of_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="partner",
            name="rate_limits",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text='Limits of one key that differ from the defaults, as {"build": {"perSecond": 40, "burst": 120}}, of build, discover and read. All keys together may send four times that.',
                validators=[partners.limits.validate_limits],
            ),
        ),
    ]
