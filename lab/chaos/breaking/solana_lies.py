"""What a lying provider of Solana shows instead of the truth, by kind of lie."""

from typing import Any

from lab.chaos.breaking.provider_faults import Alter, Call

TRANSACTION, LISTING, STATUSES, BLOCK = "getTransaction", "getSignaturesForAddress", "getSignatureStatuses", "getBlock"
FAILED = {"InstructionError": [0, {"Custom": 1}]}
OF_ANOTHER_CLUSTER = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"


def shows_failures(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Show each transaction as failed."""
    if call["method"] == TRANSACTION and result is not None:
        return result | {"meta": result["meta"] | {"err": FAILED}}
    if call["method"] == LISTING:
        return [one | {"err": FAILED} for one in result]
    if call["method"] == STATUSES:
        return result | {"value": [one and one | {"err": FAILED} for one in result["value"]]}
    return result


def changes_balances(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Show half of each token balance that a transaction left."""
    if call["method"] != TRANSACTION or result is None:
        return result
    balances = [_halved(balance) for balance in result["meta"]["postTokenBalances"]]
    return result | {"meta": result["meta"] | {"postTokenBalances": balances}}


def claims_finality(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Call each transaction final as soon as it is confirmed."""
    if call["method"] != STATUSES:
        return result
    final = {"confirmations": None, "confirmationStatus": "finalized"}
    return result | {"value": [one and one | final for one in result["value"]]}


def is_on_a_fork(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Have other blocks at all slots."""
    return result | {"blockhash": OF_ANOTHER_CLUSTER} if call["method"] == BLOCK and result else result


def is_of_another_cluster(call: Call, result: Any) -> Any:  # noqa: ANN401 - JSON
    """Answer as a node of a cluster that knows none of the transactions."""
    if call["method"] == "getGenesisHash":
        return OF_ANOTHER_CLUSTER
    if call["method"] == STATUSES:
        return result | {"value": [None for _ in result["value"]]}
    return {TRANSACTION: None, LISTING: []}.get(call["method"], result)


def _halved(balance: dict[str, Any]) -> dict[str, Any]:
    amount = balance["uiTokenAmount"]
    return balance | {"uiTokenAmount": amount | {"amount": str(int(amount["amount"]) // 2)}}


ALTERATIONS_ON_SOLANA: dict[str, Alter] = {
    "shown_failed": shows_failures,
    "other_balances": changes_balances,
    "early_finality": claims_finality,
    "other_blocks": is_on_a_fork,
    "other_cluster": is_of_another_cluster,
}
