"""A sweep's story as plain text that an operator can send to its partner: what partners may know, and nothing else."""

from collections.abc import Iterator

from sweepapi.networks import Networks
from sweepapi.token_amounts import token_amount
from sweeps.models import Sweep
from sweeps.shown import timeline


def plain_story(sweep: Sweep, registry: Networks) -> str:
    """Return the story, a line each: what it is, what it swept, what came of it, and each event in UTC."""
    return "\n".join(_lines(sweep, registry))


def _lines(sweep: Sweep, registry: Networks) -> Iterator[str]:
    yield f"Sweep {sweep.id} on {registry.name_of(sweep.network)}, {sweep.status}"
    if sweep.client_reference:
        yield f"Your reference: {sweep.client_reference}"
    yield f"Wallet: {sweep.wallet}"
    tokens = [token_amount(one.amount, one.decimals, one.symbol) for one in sweep.tokens.all()]
    if tokens:
        yield f"Tokens: {'; '.join(tokens)}"
    for execution in sweep.executions.all():
        done = execution.amounts
        if execution.status == execution.Status.EXECUTED:
            shown = [
                token_amount(units, sweep.output_decimals, sweep.output_symbol)
                for units in (done.gross_output, done.user_amount, done.partner_fee)
            ]
            yield "Brought {}, of which the user got {} and you {}".format(*shown)
    for tx in sweep.transactions.all():
        yield f"Transaction ({tx.status}): {registry.explorer_url(sweep.network, tx.tx_hash) or tx.tx_hash}"
    yield ""
    for event in sweep.events.all():
        yield f"{event.at:%Y-%m-%d %H:%M:%S} UTC  {timeline.sentence(event)}"
    waiting = timeline.why_it_waits(sweep)
    if waiting:
        yield f"Now: {waiting}"
