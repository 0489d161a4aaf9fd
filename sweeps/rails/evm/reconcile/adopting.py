"""Adopts executions that our contracts show and the database does not know, because it lost the sweeps that it built.

Only a final event counts, and only with a receipt that shows it. V5's names the partner and all recipients, which must
be ours. V4's does not, and anyone may use V4 without us: operators name the partner of each transaction, and the
reference has to be one that the service could have made.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction
from uuid_utils.compat import uuid7

from ledger.models import Settlement
from partners.models import Partner
from sweepapi.evm.chain import multicall
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.encoding.responses import MinedLog, Receipt
from sweepapi.evm.tokens import erc20
from sweepapi.fees import Split, floor_share
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.agreement import ask_agreed
from sweeps.books import adoption
from sweeps.books.adoption import Adopted, NotAdoptableError
from sweeps.models import Sweep
from sweeps.protocol.rail import Inclusion, OutputAsset
from sweeps.rails.evm.follow.emitted import Emitted, EmittedOutcome, PaidParties
from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.reconcile import unmatched
from sweeps.rails.evm.reconcile.rereading import ContractPlace, timestamp_of


@dataclass(frozen=True)
class Orphan:
    """The event of an execution that we do not know, with the receipt that shows it."""

    place: ContractPlace
    mined: MinedLog
    emitted: Emitted
    receipt: Receipt


@dataclass(frozen=True)
class _Owner:
    """Whose sweep it was, under which id, and what was paid to whom."""

    partner: Partner
    sweep_id: UUID
    partner_recipient: str | None
    protocol_recipient: str
    settlement: Settlement
    amounts: Split


def adopt(registry: Networks, orphan: Orphan, *, named: Partner | None, by: str) -> Sweep | None:
    """Store the sweep of an orphan and return it; None if another run adopted it, or operators have explained it.

    ``named`` is the partner that operators named for its transaction. Raises ``NotAdoptableError``.
    """
    adopted = _adopted(registry.chain(orphan.place.network), registry.pool(orphan.place.network), orphan, named, by)
    with transaction.atomic():
        event = UnmatchedEvent.objects.get(
            network=orphan.place.network,
            block_hash=orphan.mined.block_hash,
            tx_hash=orphan.mined.tx_hash,
            contract=orphan.place.contract,
            log_position=orphan.mined.position,
        )
        explanation = f"Adopted as sweep {adopted.sweep_id}."
        if not unmatched.explain(event_id=event.pk, explanation=explanation, explained_by=by):
            return None
        if Sweep.objects.filter(id=adopted.sweep_id).exists():  # anyone can write any id into a V4 reference
            raise NotAdoptableError(f"Its reference names sweep {adopted.sweep_id}, which was not lost.")
        return adoption.store(adopted)


def _adopted(chain: Chain, pool: ProviderPool, orphan: Orphan, named: Partner | None, by: str) -> Adopted:
    place, receipt, emitted = orphan.place, orphan.receipt, orphan.emitted
    outcome = emitted.outcome
    if outcome is None or emitted.user is None:
        raise NotAdoptableError("It is not the event of an execution.")
    if outcome.parties is None:
        owner = _owner_named(chain, pool, orphan, outcome, named)
    else:
        owner = _owner_on_chain(chain, outcome, outcome.parties)
    return Adopted(
        sweep_id=owner.sweep_id,
        partner=owner.partner,
        rail=place.rail.name,
        network=place.network,
        venue=place.contract,
        execution_id=emitted.execution_id,
        wallet=emitted.user,
        output=_output_asset(chain, pool, outcome.output_token),
        partner_recipient=owner.partner_recipient,
        protocol_recipient=owner.protocol_recipient,
        settlement=owner.settlement,
        tx_hash=receipt.tx_hash,
        inclusion=Inclusion(receipt.block_number, receipt.block_hash, receipt.gas_used),
        log_position=orphan.mined.position,
        amounts=owner.amounts,
        circumstances={"adopted_by": by, "token_count": emitted.facts["token_count"]},
    )


def _owner_on_chain(chain: Chain, outcome: EmittedOutcome, parties: PaidParties) -> _Owner:
    """Return whom the contract paid; the partner and both recipients have to be known."""
    partner = Partner.objects.filter(id=UUID(parties.partner_id[2:34])).first()
    if partner is None or partner.onchain_id != parties.partner_id:
        raise NotAdoptableError(f"No partner has the id {parties.partner_id}.")
    former = [wallet.address for wallet in partner.former_wallets_on(chain.network)]
    if parties.partner_recipient not in [partner.recipient_on(chain.network), *former]:
        raise NotAdoptableError(f"{parties.partner_recipient} never was a payout wallet of {partner}.")
    if parties.protocol_recipient != chain.protocol_recipient:
        raise NotAdoptableError(f"{parties.protocol_recipient} is not the protocol's recipient.")
    return _Owner(
        partner=partner,
        sweep_id=uuid7(),
        partner_recipient=parties.partner_recipient,
        protocol_recipient=parties.protocol_recipient,
        settlement=Settlement.ON_CHAIN,
        amounts=_split(outcome, parties.partner_fee, parties.protocol_fee),
    )


def _owner_named(
    chain: Chain, pool: ProviderPool, orphan: Orphan, outcome: EmittedOutcome, partner: Partner | None
) -> _Owner:
    """Return the partner that operators named, with the share that it had when the sweep was executed."""
    recipient = chain.protocol_recipient
    sweep_id = orphan.place.rail.named_sweep(orphan.emitted.execution_id)
    if partner is None:
        raise NotAdoptableError("Its event names no partner: name one for this transaction.")
    if sweep_id is None:
        raise NotAdoptableError("Its reference is not one that the service makes.")
    if recipient is None:
        raise NotAdoptableError("The chains file does not name the protocol's recipient.")
    executed_at = datetime.fromtimestamp(timestamp_of(pool, orphan.mined.block_number), UTC)
    partner_fee = floor_share(outcome.total_fee, partner.share_bps_at(executed_at))
    return _Owner(
        partner=partner,
        sweep_id=sweep_id,
        partner_recipient=None,
        protocol_recipient=recipient,
        settlement=Settlement.PAYABLE,
        amounts=_split(outcome, partner_fee, outcome.total_fee - partner_fee),
    )


def _split(outcome: EmittedOutcome, partner_fee: int, protocol_fee: int) -> Split:
    """Return the amounts; what contradicts itself is not adopted."""
    total_fee, gross_output = outcome.total_fee, outcome.gross_output
    if partner_fee + protocol_fee != total_fee or outcome.user_amount + total_fee != gross_output:
        raise NotAdoptableError("The amounts of the event do not add up.")
    return Split(gross_output, total_fee, partner_fee, protocol_fee, outcome.user_amount)


def _output_asset(chain: Chain, pool: ProviderPool, asset: str) -> OutputAsset:
    """Read how the token is called; raises ``ChainUnavailableError``."""
    token = chain.wrapped_native if asset == NATIVE_COIN else asset
    call = multicall.multicall(multicall3=chain.multicall3, reads=erc20.identity_reads(token))
    (shown,) = ask_agreed(pool, [call])
    identity = erc20.token_identity(shown)
    if identity is None:
        raise NotAdoptableError(f"The output token {asset} does not say how many decimals it has.")
    return OutputAsset(asset, chain.native_symbol if asset == NATIVE_COIN else identity.symbol, identity.decimals)
