"""Decides about each token of a wallet from what was read and tried, without I/O."""

from collections.abc import Sequence
from functools import lru_cache

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.tokens.deception import Deception, KnownSymbols, deception
from sweepapi.evm.tokens.erc20 import TokenFacts
from sweepapi.evm.tokens.listed_tokens import is_listed, listed_symbols
from sweepapi.evm.tokens.transfers import TransferProblem
from sweepapi.evm.trial.trial_result import SimulationStatus
from sweepapi.evm.worth.left_out import PROBLEMS, TAKES_OTHERS
from sweepapi.worth.left_out import SIMULATION_FAILED, uneconomic
from sweeps.protocol.verdicts import SELLABLE, ExplainedVerdict, TokenVerdict, taxed
from sweeps.rails.evm.build.stages import EvmSimulated
from sweeps.rails.evm.discover.found import TokenNote

BROKEN = ExplainedVerdict(TokenVerdict.BROKEN, "not_a_token", "It does not answer like an ERC-20 token.")
DECEPTIONS = {
    Deception.IMITATION: "Its symbol is that of a well-known token, or looks like it.",
    Deception.MIXED_SCRIPTS: "Its name mixes the letters of several scripts.",
    Deception.LINK: "Its name contains a link.",
}


def deceptive(chain: Chain, token: str, facts: TokenFacts) -> ExplainedVerdict | None:
    """Return why an unlisted token's name is made to deceive; None if it is not."""
    if is_listed(chain, token):
        return None
    found = deception(*facts.reported, known=_known_symbols(chain))
    return None if found is None else ExplainedVerdict(TokenVerdict.SUSPECT, found.value, DECEPTIONS[found])


def notes(chain: Chain, facts: TokenFacts) -> Sequence[TokenNote]:
    """Return what to know of an unlisted token beside its verdict."""
    return (TokenNote.LISTED_SYMBOL,) if _known_symbols(chain).has_listed(facts.symbol) else ()


def _known_symbols(chain: Chain) -> KnownSymbols:
    return _known_beside((chain.native_symbol, *chain.tokens))


@lru_cache(maxsize=64)  # more than there are chains
def _known_beside(own: tuple[str, ...]) -> KnownSymbols:
    return KnownSymbols.of(own, listed_symbols())


def without_way(problem: TransferProblem) -> ExplainedVerdict:
    """Return the verdict on a token that nothing can swap."""
    verdict = TokenVerdict.NO_ROUTE if problem is TransferProblem.NO_ROUTE else TokenVerdict.UNSELLABLE
    return ExplainedVerdict(verdict, *PROBLEMS[problem])


def of_sale(sale: EvmSimulated) -> ExplainedVerdict:
    """Return the verdict on a token that was sold alone."""
    if sale.simulation.status is SimulationStatus.REVERTED:
        return ExplainedVerdict(TokenVerdict.UNSELLABLE, SIMULATION_FAILED, sale.simulation.reason)
    if sale.simulation.taken:
        message = TAKES_OTHERS.format(", ".join(sorted(sale.simulation.taken)))
        return ExplainedVerdict(TokenVerdict.UNSELLABLE, "takes_other_tokens", message)
    worthless = next(uneconomic(sale.tokens), None)
    if worthless is not None:
        return ExplainedVerdict(TokenVerdict.UNECONOMIC, worthless.reason, worthless.message)
    tax_bps = sale.tokens[0].economics.transfer_tax_bps
    return taxed(tax_bps) if tax_bps else SELLABLE
