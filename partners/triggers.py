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

former_default_is_kept = pgtrigger.Trigger(
    name="former_default_is_kept",
    when=pgtrigger.After,
    operation=pgtrigger.Update,
    condition=pgtrigger.Q(old__payout_wallet__df=pgtrigger.F("new__payout_wallet")),
    func="""
        INSERT INTO partners_formerwallet (partner_id, network, address, until)
        VALUES (OLD.id, NULL, OLD.payout_wallet, statement_timestamp());
        RETURN NULL;
    """,
)

# A wallet on an EVM network replaces the default one there.
replaced_default_is_kept = pgtrigger.Trigger(
    name="replaced_default_is_kept",
    when=pgtrigger.After,
    operation=pgtrigger.Insert | pgtrigger.Update,
    condition=pgtrigger.Condition("NEW.network LIKE 'eip155:%'"),
    func="""
        IF TG_OP = 'INSERT' OR (OLD.partner_id, OLD.network) IS DISTINCT FROM (NEW.partner_id, NEW.network) THEN
            INSERT INTO partners_formerwallet (partner_id, network, address, until)
            SELECT id, NEW.network, payout_wallet, statement_timestamp() FROM partners_partner
            WHERE id = NEW.partner_id;
        END IF;
        RETURN NULL;
    """,
)

former_wallet_is_kept = pgtrigger.Trigger(
    name="former_wallet_is_kept",
    when=pgtrigger.After,
    operation=pgtrigger.Update | pgtrigger.Delete,
    func="""
        IF TG_OP = 'DELETE' OR (OLD.partner_id, OLD.network, OLD.address)
            IS DISTINCT FROM (NEW.partner_id, NEW.network, NEW.address) THEN
            INSERT INTO partners_formerwallet (partner_id, network, address, until)
            VALUES (OLD.partner_id, OLD.network, OLD.address, statement_timestamp());
        END IF;
        RETURN NULL;
    """,
)
