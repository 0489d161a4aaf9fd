"""Reads what a wallet holds: which tokens are worth sweeping, and which accounts hold nothing but their rent.

At most five HTTP requests to the cluster, however much the wallet holds: its token accounts; the mints and names of a
page of them; and for the best sales what they need, a simulation, and another one of those that fail.
"""

from partners.models import Partner
from sweepapi.errors import ChainUnavailable
from sweepapi.networks import Networks
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.cluster.clusters import OutputToken
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.encoding.addresses import public_key
from sweeps.protocol.rail import FeeTerms
from sweeps.protocol.request import BuildRequest, HoldingsRequest
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.terms import output_of
from sweeps.rails.solana_v1.discover.found import FoundTokenAccount, SolanaDiscovery
from sweeps.rails.solana_v1.discover.ranking import page_of
from sweeps.rails.solana_v1.discover.reading import read_accounts, read_facts_of
from sweeps.rails.solana_v1.discover.reclaiming import Reclaimable, reclaimable
from sweeps.rails.solana_v1.discover.selling import Appraisal, PageSeller


def discover(registry: Networks, *, partner: Partner, request: HoldingsRequest) -> SolanaDiscovery:
    """Read a wallet, and what it could become in an output: without one, in the first of the cluster.

    A build with the same slippage that follows at once asks for no quote again.

    Raises ``InvalidRequest`` for another output than the cluster's, and ``ChainUnavailable``.
    """
    cluster = registry.cluster(request.network)
    output = output_of(cluster, request.output_asset or cluster.output_tokens[0].mint)
    try:
        return _discover(registry, partner, request, output)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error


def _discover(registry: Networks, partner: Partner, request: HoldingsRequest, output: OutputToken) -> SolanaDiscovery:
    cluster, pool = registry.cluster(request.network), registry.pool(request.network)
    fees = FeeTerms.of_today(partner, registry.fee_wallet)
    accounts = read_accounts(pool, public_key(request.wallet))
    page = page_of(registry, accounts.with_balance, frozenset(map(public_key, request.candidates)), request.place)
    facts = read_facts_of(pool, accounts, page.holdings, public_key(output.mint), registry.fee_wallet)
    terms = BuildRequest(
        network=request.network,
        wallet=request.wallet,
        tokens=(),
        output_asset=output.mint,
        slippage_bps=request.slippage_bps,
    )
    seller = PageSeller(registry, partner, cluster, output, terms, facts, fees, accounts.recent_prices)
    sales = seller.sales(page.holdings)
    holdings, rent = accounts.holdings.values(), accounts.token_account_rent
    return SolanaDiscovery(
        cluster=cluster,
        wallet=request.wallet,
        output=output,
        reference=sales.rates.reference,
        tokens=[_found(holding, facts, sales.appraisals[holding.key]) for holding in page.holdings],
        reclaimable=reclaimable(holdings, output.mint, rent) if request.place is None else Reclaimable(),
        page=page,
        best_basket=sales.basket,
        retry_after_seconds=sales.retry_after_seconds,
    )


def _found(holding: Holding, facts: ClusterFacts, appraisal: Appraisal) -> FoundTokenAccount:
    of, name, token = facts.mints[holding.token.mint], facts.names[holding.token.mint], appraisal.token
    return FoundTokenAccount(
        mint=str(holding.token.mint),
        account=str(holding.key),
        amount=holding.token.amount,
        decimals=None if of is None else of.decimals,
        symbol=name.symbol,
        name=name.name,
        estimated_output=None if token is None else token.quote.out_amount,
        obstacle=appraisal.obstacle,
        economics=None if token is None else token.economics,
        tax_bps=0 if of is None else of.transfer_tax_bps(facts.epoch),
    )
