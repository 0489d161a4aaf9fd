"""Database triggers that tables of several apps share."""

import pgtrigger


def append_only() -> list[pgtrigger.Trigger]:
    """Return the triggers that refuse to update or delete a row of their table."""
    return [
        pgtrigger.Trigger(
            name=f"no_{operation}",
            when=pgtrigger.Before,
            operation=kind,
            func=(
                "RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP)"
                " USING ERRCODE = 'integrity_constraint_violation';"
            ),
        )
        for operation, kind in (("update", pgtrigger.Update), ("delete", pgtrigger.Delete))
    ]
