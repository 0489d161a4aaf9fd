import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

# By the times at which they were posted, as months went until now, and live, because no network was a sandbox.
# Entries of transactions that run meanwhile are left to ``ledger.numbering``, which also skips what is numbered here.
# Ids of transactions that are not below ``xmax`` are those of a server from which the tables were restored.
NUMBER_ENTRIES = """
    INSERT INTO ledger_entrynumber (number, entry_id, partner_id, mode, partner_number, numbered_at)
    SELECT row_number() OVER (ORDER BY posted_at, id), id, partner_id, 'live',
        row_number() OVER (PARTITION BY partner_id ORDER BY posted_at, id) - 1, posted_at
    FROM ledger_journalentry
    WHERE posted_in < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        OR posted_in >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
    SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0005_fewer_indexes"),
        ("partners", "0006_fewer_indexes"),
    ]

    operations = [
        # First, since it lets running transactions end, and keeps others from posting.
        migrations.AddIndex(
            model_name="journalentry",
            index=models.Index(fields=["posted_in", "id"], name="entry_to_number"),
        ),
        migrations.CreateModel(
            name="EntryNumber",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("mode", models.CharField(choices=[("live", "Live"), ("test", "Test")], max_length=4)),
                ("partner_number", models.BigIntegerField()),
                ("numbered_at", models.DateTimeField()),
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="numbered",
                        to="ledger.journalentry",
                    ),
                ),
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
                "indexes": [models.Index(fields=["partner", "mode", "numbered_at"], name="entry_number_by_time")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("partner", "mode", "partner_number"), name="entry_number_of_partner"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1), ("partner_number__gte", 0)),
                        name="entry_number_counts_up",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("mode__in", ["live", "test"])), name="entry_number_mode_known"
                    ),
                ],
            },
        ),
        migrations.RunSQL(NUMBER_ENTRIES, migrations.RunSQL.noop),
        pgtrigger.migrations.AddTrigger(
            model_name="entrynumber",
            trigger=pgtrigger.compiler.Trigger(
                name="number_follows_the_one_before",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="IF NEW.number > 1 AND NOT EXISTS ( SELECT FROM ledger_entrynumber WHERE number = NEW.number - 1 AND numbered_at <= NEW.numbered_at ) THEN RAISE EXCEPTION 'number % follows none, or a later one', NEW.number USING ERRCODE = 'integrity_constraint_violation'; END IF; IF NEW.partner_number > 0 AND NOT EXISTS ( SELECT FROM ledger_entrynumber WHERE partner_id = NEW.partner_id AND mode = NEW.mode AND partner_number = NEW.partner_number - 1 AND number < NEW.number ) THEN RAISE EXCEPTION 'number % of the partner follows none, or a later one', NEW.partner_number USING ERRCODE = 'integrity_constraint_violation'; END IF; IF NOT EXISTS (SELECT FROM ledger_journalentry WHERE id = NEW.entry_id AND partner_id = NEW.partner_id) THEN RAISE EXCEPTION 'journal entry % is of another partner than its number', NEW.entry_id USING ERRCODE = 'integrity_constraint_violation'; END IF; RETURN NULL;",
                    hash="37169972a9055c754fef4208230611079b10040c",
                    operation="INSERT",
                    pgid="pgtrigger_number_follows_the_one_before_70840",
                    table="ledger_entrynumber",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="entrynumber",
            trigger=pgtrigger.compiler.Trigger(
                name="no_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP) USING ERRCODE = 'integrity_constraint_violation';",
                    hash="877654ca7c345960d74b6e93c7c6ecc3fc6c79e3",
                    operation="UPDATE",
                    pgid="pgtrigger_no_update_483a7",
                    table="ledger_entrynumber",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="entrynumber",
            trigger=pgtrigger.compiler.Trigger(
                name="no_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP) USING ERRCODE = 'integrity_constraint_violation';",
                    hash="cccc5a009c18954ce96b29b0f04a6decdbcd4362",
                    operation="DELETE",
                    pgid="pgtrigger_no_delete_80096",
                    table="ledger_entrynumber",
                    when="BEFORE",
                ),
            ),
        ),
    ]
