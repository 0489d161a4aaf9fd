from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("sweeps", "0020_found_by_reference"),
    ]

    operations = [
        migrations.DeleteModel(name="OfferAnswer"),
    ]
