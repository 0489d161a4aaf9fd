"""What PostgreSQL itself enforces about partners and no constraint can express."""

import pgtrigger

# Deferred to commit, because the share refers to the partner.
partner_has_a_share = pgtrigger.Trigger(
    name="partner_has_a_share",
    when=pgtrigger.After,
    operation=pgtrigger.Insert,
    timing=pgtrigger.Deferred,
    func=(
        "IF NOT EXISTS (SELECT FROM partners_feeshare WHERE partner_id = NEW.id AND effective_from = created_at) THEN"
        " RAISE EXCEPTION 'partner % has no fee share that is effective at once', NEW.id"
        " USING ERRCODE = 'integrity_constraint_violation';"
        " END IF; RETURN NULL;"
    ),
)
