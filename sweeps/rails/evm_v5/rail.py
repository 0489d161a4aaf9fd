"""The V5 rail, as the rest of the service sees it."""

from collections.abc import Sequence

from django.db.models import prefetch_related_objects

from sweepapi.evm.deployment.specification import V5
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.evm import following, reverts
from sweeps.rails.evm_v5 import cancelling, judging, sealing
from sweeps.rails.evm_v5.judging import Terms, V5Watched
from sweeps.rails.evm_v5.presenting import V5Presentation


class EvmV5:
    """Sweeps through ``ServiceBatchV5PartnerFees``."""

    name = "evm_v5"
    mode = "v5_partner_fees"
    contract_version = "v5"
    contract_name = V5
    present = V5Presentation()

    def watch(self, sweeps: Sequence[Sweep]) -> list[V5Watched]:
        prefetch_related_objects(list(sweeps), "partner", "tokens", "executions__transactions")
        return [_watched(sweep) for sweep in sweeps]

    def authorization_nonce(self, execution: Execution) -> str | None:
        """Return the nonce as partners see it; other contract versions have none."""
        return execution.execution_id

    draft = staticmethod(sealing.draft_v5)
    seal = staticmethod(sealing.seal)
    store = staticmethod(sealing.store)
    see = staticmethod(following.see)
    judge = staticmethod(judging.judge)
    next_look = staticmethod(following.next_look)
    clock = staticmethod(following.clock)
    explain_revert = staticmethod(reverts.explain)
    withdraw = staticmethod(cancelling.request)
    send_withdrawals = staticmethod(cancelling.send_requested)


def _watched(sweep: Sweep) -> V5Watched:
    (execution,) = sweep.executions.all()
    candidates = list(execution.transactions.all())
    accepted = next((tx for tx in candidates if tx.status == SweepTransaction.Status.ACCEPTED), None)
    polled = [tx.tx_hash for tx in candidates if tx.status != SweepTransaction.Status.DISPLACED]
    return V5Watched(
        sweep_id=sweep.id,
        execution_id=execution.id,
        contract=execution.venue,
        terms=_terms(sweep, execution),
        deadline=int(sweep.deadline.timestamp()),
        built_at_height=execution.built_at_height,
        search_cursor=execution.search_cursor,
        tx_hashes=() if accepted is not None else tuple(polled),
        accepted=accepted.block if accepted is not None else None,
    )


def _terms(sweep: Sweep, execution: Execution) -> Terms:
    return Terms(
        nonce=int(execution.execution_id),
        user=sweep.wallet,
        partner_id=sweep.partner.onchain_id,
        partner_recipient=sweep.partner_recipient,
        protocol_recipient=sweep.protocol_recipient,
        output_token=sweep.output_asset,
        token_count=len(sweep.tokens.all()),
        total_fee_bps=sweep.total_fee_bps,
        partner_share_bps=sweep.partner_share_bps,
    )
