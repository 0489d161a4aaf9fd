"""Presents V5 sweeps: to partners in the shapes that EVM rails share, to operators with V5's own facts."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from sweepapi.admin.explorer import transaction_link
from sweepapi.evm.chain.sending import GWEI
from sweeps.models import Sweep
from sweeps.rails.evm.admin_facts import leg_facts
from sweeps.rails.evm.base import EvmPresentation
from sweeps.rails.evm_v5.evidence import evidence
from sweeps.rails.evm_v5.models import Cancellation, FeeAuthorization


class V5Presentation(EvmPresentation):
    """The shapes of the V5 rail."""

    evidence = staticmethod(evidence)

    def obstacles(self, sweep: Sweep) -> Iterable[str]:
        """Return why a cancellation on chain is not sent or not mined."""
        requested = Cancellation.objects.filter(execution__sweep=sweep)
        return requested.exclude(last_error="").values_list("last_error", flat=True)

    def admin_facts(self, sweep: Sweep) -> Iterator[tuple[str, str]]:
        """Yield what the user signs, the routes, the signed authorization, and how far a cancellation on chain is."""
        yield from leg_facts(sweep)
        for authorization in FeeAuthorization.objects.filter(offer__sweep=sweep).select_related("offer"):
            yield from _authorization(authorization)
        for cancellation in Cancellation.objects.filter(execution__sweep=sweep).prefetch_related("transactions"):
            yield from _cancellation(cancellation)


def _authorization(authorization: FeeAuthorization) -> Iterator[tuple[str, str]]:
    offer = f"Offer {authorization.offer.sequence}"
    yield f"{offer}: authorization nonce", str(authorization.nonce)
    yield f"{offer}: partner recipient", authorization.partner_recipient
    yield f"{offer}: legs hash", authorization.legs_hash
    yield f"{offer}: digest", authorization.digest
    yield f"{offer}: signer", authorization.signer


def _cancellation(cancellation: Cancellation) -> Iterator[tuple[str, str]]:
    yield "Cancellation", cancellation.last_error or "Requested."
    for row in cancellation.transactions.all():
        max_fee_gwei = Decimal(row.max_fee) / GWEI
        signed_at = f"{row.signed_at:%Y-%m-%d at %H:%M:%S UTC}"
        yield (
            "Cancellation: signed",
            f"nonce {row.account_nonce} of {row.account}, at most {max_fee_gwei} gwei, on {signed_at}",
        )
        yield "Cancellation: transaction", transaction_link(row.network, row.tx_hash)
