"""Database triggers that tables of several apps share."""

from collections.abc import Sequence

import pgtrigger


def append_only(*, except_fields: Sequence[str] = ()) -> list[pgtrigger.Trigger]:
    """Return the triggers that refuse to update or delete a row of their table; some fields may be updated."""
    update = pgtrigger.AnyChange(exclude=list(except_fields)) if except_fields else None
    return [
        pgtrigger.Trigger(
            name=f"no_{operation}",
            when=pgtrigger.Before,
            operation=kind,
            condition=condition,
            func=(
                "RAISE EXCEPTION '% is append-only: no %', TG_TABLE_NAME, lower(TG_OP)"
                " USING ERRCODE = 'integrity_constraint_violation';"
            ),
        )
        for operation, kind, condition in (("update", pgtrigger.Update, update), ("delete", pgtrigger.Delete, None))
    ]
