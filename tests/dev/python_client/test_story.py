"""The Python client against the service: from a discovery to the ledger, and what is refused."""

from typing import Any

import pytest

from ledger.entries.numbering import number_entries
from sweepapi_client import SweepApiError, finalized, token_inputs
from tests.dev.python_client.conftest import Kind, World
from tests.local_chain import LocalChain
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db(transaction=True)

SOME = 3 * 10**18


@pytest.fixture
def client(kind: Kind, world: World) -> Any:
    return kind.create(*world.access)


@pytest.fixture
def tokens(kind: Kind, client: Any, world: World) -> dict[str, str]:
    """The sandbox's tokens by name, which the user holds."""
    kind.wait(client.sandbox.fund({"chain": world.wanted["chain"], "wallet": world.wanted["wallet"]}))
    (sandbox,) = kind.wait(client.sandbox.status())["chains"]
    return {token["name"]: token["mint"] for token in sandbox["tokens"]}


def body(world: World, token: str, **changes: Any) -> dict[str, Any]:
    """Return the body of a build of some of a token."""
    some = {"tokens": token_inputs({token: SOME}), "slippageBps": 100, "acceptUneconomic": True}
    return {**world.wanted, **some, **changes}


@pytest.mark.usefixtures("tokens")
def test_what_is_worth_sweeping_is_swept_and_is_in_the_history_and_the_ledger(
    kind: Kind, client: Any, world: World, chain: LocalChain
) -> None:
    basket = kind.wait(client.discover(world.wanted))["bestBasket"]
    wanted = {**world.wanted, "tokens": basket["tokens"][:2], "slippageBps": 100}
    quoted = kind.wait(client.quote(wanted))
    offer = kind.wait(client.build(wanted))
    assert offer["estimatedOutput"] == quoted["estimatedOutput"]
    (execution,) = (one for one in offer["executions"] if one["kind"] == "transactions")
    for approval in execution["approvals"]:
        chain.receipt(world.wallet.send(approval))
    tx_hash = world.wallet.send(execution["transaction"])
    chain.receipt(tx_hash)

    sweep = kind.wait(client.confirm(offer["sweepId"], {"txHash": tx_hash}))

    assert sweep["status"] == "completed"
    assert kind.wait(client.sweep(offer["sweepId"]))["transaction"]["txHash"] == tx_hash
    assert [one["sweepId"] for one in kind.items(client.history({"wallet": world.wallet.address}))] == [
        offer["sweepId"]
    ]
    number_entries()
    listed = kind.items(client.ledger_entries({"sweepId": offer["sweepId"]}))
    amounts = {(posting["account"], posting["amount"]) for posting in sweep["ledger"]["entries"]}
    assert {(posting["account"], posting["amount"]) for posting in listed} == amounts
    (balance,) = kind.wait(client.ledger_balances())["balances"]
    assert ("partner_settled", balance["settled"]) in amounts


def test_a_signature_is_put_into_the_transaction_as_the_service_does_it(
    kind: Kind, client: Any, world: World, tokens: dict[str, str], chain: LocalChain
) -> None:
    offer = kind.wait(client.build(body(world, tokens["script"])))
    for issue in offer["issues"]["allowance"]:
        chain.receipt(world.wallet.send(issue["transaction"]))
    signature = world.wallet.sign(offer["permit2"])
    signed = {"execution": "permit2", "signatures": [f"0x{signature.hex()}"]}
    by_the_service = kind.wait(client.finalize(offer["sweepId"], signed))
    assert finalized(offer, signature)["data"] == by_the_service["transaction"]["data"]
    with pytest.raises(ValueError, match="a signature of 66 bytes"):
        finalized(offer, signature + b"\0")


def test_pages_follow_one_another_to_the_end(kind: Kind, client: Any, world: World, tokens: dict[str, str]) -> None:
    built = [kind.wait(client.build(body(world, tokens["script"])))["sweepId"] for _ in range(3)]
    listed = kind.items(client.history({"limit": 1}))
    assert [one["sweepId"] for one in listed] == built[::-1]


def test_a_build_under_the_same_key_is_the_same_sweep(
    kind: Kind, client: Any, world: World, tokens: dict[str, str]
) -> None:
    wanted = body(world, tokens["script"])
    first, again = (kind.wait(client.build(wanted, idempotency_key="order 42")) for _ in range(2))
    other = kind.wait(client.build(wanted))
    assert first["sweepId"] == again["sweepId"] != other["sweepId"]


def test_an_offer_is_renewed_and_withdrawn(kind: Kind, client: Any, world: World, tokens: dict[str, str]) -> None:
    sweep_id = kind.wait(client.build(body(world, tokens["script"])))["sweepId"]
    assert kind.wait(client.refresh(sweep_id))["sweepId"] == sweep_id
    assert kind.wait(client.cancel(sweep_id, {}))["status"] == "void"


def test_a_refusal_has_its_code_and_what_is_wrong_with_each_field(
    kind: Kind, client: Any, world: World, tokens: dict[str, str]
) -> None:
    with pytest.raises(SweepApiError, match="422 tokens_refused: ") as refused:
        kind.wait(client.build(body(world, tokens["no_route"])))
    refusal = refused.value
    assert (refusal.status, refusal.code, refusal.retryable) == (422, "tokens_refused", False)
    assert [(one["field"], one["code"]) for one in refusal.details] == [("tokens[0].mint", "no_route")]
    assert "tokens[0].mint" in str(refusal)
    assert refusal.request_id
    assert refusal.doc_url.endswith("#tokens_refused")


def test_a_month_that_is_not_over_has_no_statement(kind: Kind, client: Any) -> None:
    with pytest.raises(SweepApiError) as refused:
        kind.wait(client.statement("2999-01"))
    assert refused.value.code == "statement_not_ready"


def test_keys_of_receipts_are_read_without_an_envelope(kind: Kind, client: Any) -> None:
    assert kind.wait(client.proof_keys())["keys"][0]["kty"] == "OKP"


def test_an_endpoint_lives_through_its_operations_and_shows_its_secret_when_it_is_made_and_renewed(
    kind: Kind, client: Any
) -> None:
    webhooks, wait = client.webhooks, kind.wait
    made = wait(webhooks.create({"url": "http://127.0.0.1:9/hooks", "types": ["sweep.completed"]}))
    webhook_id = made["endpoint"]["id"]
    assert made["secret"].startswith("whsec_")
    assert [one["id"] for one in wait(webhooks.list())["items"]] == [webhook_id]
    assert wait(webhooks.update(webhook_id, {"description": "orders"}))["description"] == "orders"
    assert wait(webhooks.get(webhook_id))["description"] == "orders"
    assert wait(webhooks.rotate_secret(webhook_id))["secret"] != made["secret"]
    wait(webhooks.ping(webhook_id))
    assert [one["type"] for one in kind.items(webhooks.deliveries(webhook_id))] == ["webhook.ping"]
    wait(webhooks.delete(webhook_id))
    with pytest.raises(SweepApiError) as refused:
        wait(webhooks.get(webhook_id))
    assert refused.value.code == "webhook_not_found"


def test_a_sweep_on_solana_is_discovered_built_and_read(
    kind: Kind, user: SolanaUser, live_server: Any, api_key: str
) -> None:
    user.hold(50 * DOLLAR)
    solana, wanted = (
        kind.create(live_server.url, api_key).solana,
        {"wallet": str(user.key), "outputMint": str(user.cluster.usdc)},
    )
    found = kind.wait(solana.discover(wanted))
    tokens = found["bestBasket"]["tokens"]
    offer = kind.wait(solana.build({**wanted, "tokens": tokens, "slippageBps": 100}))
    assert [one["mint"] for one in offer["tokens"]] == [one["mint"] for one in tokens]
    assert kind.wait(solana.sweep(offer["sweepId"]))["status"] == "pending"
    assert [one["sweepId"] for one in kind.items(solana.history())] == [offer["sweepId"]]
    assert [one["name"] for one in kind.wait(solana.status())["chains"]] == ["solana"]
