"""The rules of double entry that PostgreSQL itself enforces, for every client that writes to the tables.

Each is PL/pgSQL for one trigger. Rules about a whole entry are deferred to commit, when all its postings exist.
"""

import pgtrigger

_ENTRY_IS_BALANCED = """
    SELECT count(*), coalesce(sum(amount), 0) INTO posting_count, total FROM ledger_posting WHERE entry_id = {entry};
    IF posting_count < 2 THEN
        RAISE EXCEPTION 'journal entry % has % postings, needs at least two', {entry}, posting_count
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF total <> 0 THEN
        RAISE EXCEPTION 'journal entry % is out of balance by %', {entry}, total
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
"""


def _balanced(*, name: str, entry: str) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        timing=pgtrigger.Deferred,
        declare=[("posting_count", "bigint"), ("total", "numeric")],
        func=_sql(_ENTRY_IS_BALANCED.format(entry=entry) + "RETURN NULL;"),
    )


def _sql(text: str) -> str:
    return " ".join(text.split())


def belongs_to(kind: str) -> pgtrigger.Trigger:
    """Refuse rows about an entry of another kind than this."""
    return pgtrigger.Trigger(
        name="belongs_to_its_kind",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert,
        func=_sql(f"""
            IF NOT EXISTS (SELECT FROM ledger_journalentry WHERE id = NEW.entry_id AND kind = '{kind}') THEN
                RAISE EXCEPTION 'journal entry % is not a {kind}', NEW.entry_id
                    USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN NEW;
        """),
    )


entry_is_balanced = _balanced(name="entry_is_balanced", entry="NEW.id")
posted_entry_is_balanced = _balanced(name="posted_entry_is_balanced", entry="NEW.entry_id")

# This is the top-level transaction's id. Savepoints share it, so an entry and its postings may use different ones.
entry_knows_its_transaction = pgtrigger.Trigger(
    name="entry_knows_its_transaction",
    when=pgtrigger.Before,
    operation=pgtrigger.Insert,
    func="NEW.posted_in := pg_current_xact_id()::text::bigint; RETURN NEW;",
)

# The database's clock, since that of a host may be wrong.
entry_takes_the_time = pgtrigger.Trigger(
    name="entry_takes_the_time",
    when=pgtrigger.Before,
    operation=pgtrigger.Insert,
    func="NEW.posted_at := clock_timestamp(); RETURN NEW;",
)

# So that the time of an entry is close to that of its number.
entry_is_committed_soon = pgtrigger.Trigger(
    name="entry_is_committed_soon",
    when=pgtrigger.After,
    operation=pgtrigger.Insert,
    timing=pgtrigger.Deferred,
    func=_sql("""
        IF clock_timestamp() > NEW.posted_at + interval '4 minutes' THEN
            RAISE EXCEPTION 'journal entry % was posted at %, too long before its commit', NEW.id, NEW.posted_at
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NULL;
    """),
)

# After all rows of the statement, which may insert the entry as well.
posting_fits_its_entry = pgtrigger.Trigger(
    name="posting_fits_its_entry",
    when=pgtrigger.After,
    operation=pgtrigger.Insert,
    declare=[("entry", "ledger_journalentry%ROWTYPE"), ("account", "ledger_account%ROWTYPE")],
    func=_sql("""
        SELECT * INTO entry FROM ledger_journalentry WHERE id = NEW.entry_id;
        SELECT * INTO account FROM ledger_account WHERE id = NEW.account_id;
        IF entry.posted_in IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN
            RAISE EXCEPTION 'journal entry % is closed: postings belong to the transaction of their entry', NEW.entry_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        IF (account.network, account.asset) IS DISTINCT FROM (entry.network, entry.asset) THEN
            RAISE EXCEPTION 'account % is of another asset than journal entry %', NEW.account_id, NEW.entry_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        IF account.partner_id <> entry.partner_id THEN
            RAISE EXCEPTION 'account % is of another partner than journal entry %', NEW.account_id, NEW.entry_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NULL;
    """),
)

reversal_mirrors_its_original = pgtrigger.Trigger(
    name="reversal_mirrors_its_original",
    when=pgtrigger.After,
    operation=pgtrigger.Insert,
    timing=pgtrigger.Deferred,
    condition=pgtrigger.Q(new__reverses__isnull=False),
    declare=[("original", "ledger_journalentry%ROWTYPE")],
    func=_sql("""
        SELECT * INTO original FROM ledger_journalentry WHERE id = NEW.reverses_id;
        IF (original.kind, original.sweep_ref, original.execution_ref, original.booking_epoch, original.partner_id,
                original.network, original.asset)
            IS DISTINCT FROM (CASE NEW.kind WHEN 'reversal' THEN 'sweep_fee' ELSE 'payout' END,
                NEW.sweep_ref, NEW.execution_ref, NEW.booking_epoch, NEW.partner_id, NEW.network, NEW.asset)
            OR EXISTS (SELECT FROM ledger_posting WHERE entry_id IN (NEW.id, NEW.reverses_id)
                GROUP BY account_id HAVING sum(amount) <> 0)
        THEN
            RAISE EXCEPTION 'journal entry % does not mirror %', NEW.id, NEW.reverses_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        IF NEW.posted_at < original.posted_at THEN
            RAISE EXCEPTION 'journal entry % is dated before %, which it reverses', NEW.id, NEW.reverses_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NULL;
    """),
)

# After all rows of the statement, which numbers many.
number_follows_the_one_before = pgtrigger.Trigger(
    name="number_follows_the_one_before",
    when=pgtrigger.After,
    operation=pgtrigger.Insert,
    func=_sql("""
        IF NEW.number > 1 AND NOT EXISTS (
            SELECT FROM ledger_entrynumber WHERE number = NEW.number - 1 AND numbered_at <= NEW.numbered_at
        ) THEN
            RAISE EXCEPTION 'number % follows none, or a later one', NEW.number
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        IF NEW.partner_number > 0 AND NOT EXISTS (
            SELECT FROM ledger_entrynumber
            WHERE partner_id = NEW.partner_id AND mode = NEW.mode AND partner_number = NEW.partner_number - 1
                AND number < NEW.number
        ) THEN
            RAISE EXCEPTION 'number % of the partner follows none, or a later one', NEW.partner_number
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        IF NOT EXISTS (SELECT FROM ledger_journalentry WHERE id = NEW.entry_id AND partner_id = NEW.partner_id) THEN
            RAISE EXCEPTION 'journal entry % is of another partner than its number', NEW.entry_id
                USING ERRCODE = 'integrity_constraint_violation';
        END IF;
        RETURN NULL;
    """),
)
