"""What the OpenAPI document says about the API as a whole, and how drf-spectacular renders it."""

from typing import Any

SPECTACULAR: dict[str, Any] = {
    "TITLE": "Sweep Partner API",
    "DESCRIPTION": (
        "Turn many small tokens into one, in one transaction.\n\n"
        "`POST /v2/sweep/discover` says which of a wallet's tokens are worth sweeping, and `POST /v2/sweep/quote` what "
        "a build would offer now; it stores and signs nothing.\n\n"
        "1. `POST /v2/sweep/build` with your key answers with `executions`: the options that this user has, the "
        "cheapest of those that are certain first. Say in `execution.wallet` what the wallet answered to "
        "`wallet_getCapabilities`, or a batch of calls is not certain.\n"
        "2. Take the first one that the user's wallet supports. If it has `calls`, pass these to `wallet_sendCalls` "
        "(EIP-5792). Otherwise the user sends its `approvals`, signs its `typedData`, and sends its `transaction`, "
        "into whose `data` you copy the signatures as `signatureParts` says; or "
        "`POST /v2/sweep/status/{sweep_id}/finalize` does that, and verifies them before anything is sent.\n"
        "3. `POST /v2/sweep/status/{sweep_id}/confirm` with the hash, or with the answer of `wallet_getCallsStatus`: "
        "200 when it is settled, 202 while it is not; `GET /v2/sweep/status/{sweep_id}` shows the sweep at any "
        "time.\n\n"
        "`POST /v2/sweep/build/{sweep_id}/refresh` offers a sweep again at current prices, under the same signature, "
        "and `POST /v2/sweep/status/{sweep_id}/cancel` withdraws one that the user declined.\n\n"
        "API keys are secrets of your server: no CORS header is sent, and a page calls your own back end. Test keys "
        "(`swp_test_…`) reach only the chains that the status marks as `sandbox`, live keys all others. Each operation "
        "but `getPartner` and `getSandbox` needs the scope that its security requirement names.\n\n"
        "Build, refresh and cancel can be repeated under an `Idempotency-Key`. Repeat a confirm that was not answered "
        "as it was: a hash that is reported twice is stored once. So with a finalization, which stores nothing. The "
        "codes of failures are explained at [/docs/errors](/docs/errors).\n\n"
        "A key may send 20 builds a second (60 at once), 5 discoveries (15 at once) and 100 other requests (300 at "
        "once), all keys of a partner together four times as many, unless we agreed on other limits. Quotes, "
        "refreshes, finalizations, requests to the sandbox, and new endpoints, pings and replays of webhooks count as "
        "builds. "
        "10 bodies a second (30 at once) may be refused with 400, 413 or 415; after that a key waits before it sends "
        "another one. A refusal shows the first 32 problems, and its message says if there are more. An address that "
        "sends many wrong keys gets 429 instead of 401; the right key always works. "
        "`RateLimit` names the limit that is closest, with `-partner` if it is that of all your keys.\n\n"
        "Instead of polling, add an endpoint with `POST /v2/webhooks`, which receives what becomes of your sweeps: the "
        "messages under `webhooks` in this document, signed as [Standard Webhooks](https://www.standardwebhooks.com) "
        "says. Verify the signature over the body as it arrived, with a library from there, or in Python:\n\n"
        "```python\n"
        "content = f\"{headers['webhook-id']}.{headers['webhook-timestamp']}.\".encode() + body\n"
        'mac = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), content, "sha256")\n'
        'expected = "v1," + base64.b64encode(mac).decode()\n'
        'genuine = any(hmac.compare_digest(expected, one) for one in headers["webhook-signature"].split(" "))\n'
        "```\n\n"
        "Refuse a `webhook-timestamp` that is more than five minutes away. A message is delivered *at least once*: "
        "remember each `webhook-id`, and ignore one that you know. Messages can overtake each other: `sequence` orders "
        "those about a sweep, and an older one than you know says nothing new. With the timing `instant` you are told "
        "at once, also what a reorganisation may reverse (`sweep.reversed` follows then); with `final` only what can't "
        "be reversed. `final` in a message says which it is.\n\n"
        "To try every branch of a client, read `GET /v2/sandbox` with a test key: it lists tokens and amounts that "
        "force outcomes on a sandbox chain, and the path of the chain's JSON-RPC, with the methods of `eth_`, `net_` "
        "and `web3_` that read or send. `POST /v2/sandbox/fund` gives a wallet these tokens, and "
        "`POST /v2/sandbox/advance` mines blocks and moves the clock.\n\n"
        "Once a sweep is final, `GET /v2/sweep/status/{sweep_id}/receipt` says who was paid what and why, signed, and "
        "in a form that you can check on chain without us. The keys are at "
        "[/.well-known/jwks.json](/.well-known/jwks.json).\n\n"
        "Each month of your ledger is a statement with a signed checkpoint of its entries, "
        "`GET /v2/statements/{month}`, against which `GET /v2/statements/{month}/proof` proves one entry, or that "
        "nothing before it was changed.\n\n"
        "Amounts are decimal strings in the token's smallest unit; the native coin is "
        "`0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE`.\n\n"
        "On Solana, `/v1` has the same keys, errors and amounts:\n\n"
        "1. `POST /v1/sweep/discover` lists which of a wallet's tokens are worth sweeping, and rent to reclaim.\n"
        "2. `POST /v1/sweep/build` answers with one or more v0 transactions in base64, each of which is executed "
        "on its own. Deserialize each (`VersionedTransaction` in web3.js and solders), have the wallet sign it, "
        "and send it to any RPC node. The blockhash in it lasts until `lastValidBlockHeight`, about half a minute "
        "(`expiresAt`), so put in a fresh one (`getLatestBlockhash`) just before the wallet signs if the user takes "
        "longer. Client and wallet may also change the compute budget, and add Lighthouse's assertions. With any "
        "other change it is not recognised.\n"
        '   Empty accounts are closed for their rent. With `"tokens": []` nothing is sold: a build closes them, burns '
        "what `burn` names, and unwraps SOL (`unwrapSol`).\n"
        "3. No confirm is needed: the service finds them on chain, and `GET /v1/sweep/status/{sweep_id}` shows "
        "what landed. Poll it until `open` is false. If `status` is then `expired` or `failed`, nothing was "
        "swept, and you can build again: a sweep is called `expired` only `expiryGraceSeconds` (`GET /v1/status`) "
        "after its blockhash, and one that lands later still is found, too. `flags` with `partial` means that only "
        "some of the transactions landed, and `operations` shows which tokens were swept; `remaining` is the body of a "
        "build of the others. Your share of the fee is "
        "accounted for and paid out later, as for sweeps on V4, which `/v1` shows too."
    ),
    "TAGS": [
        {"name": "Sweeps", "description": "Find tokens, build a sweep, report its transaction, follow it."},
        {"name": "Sweeps on Solana", "description": "Find tokens, build a sweep, follow it; no confirm is needed."},
        {"name": "Service", "description": "What the service offers now."},
        {"name": "Partner", "description": "The partner that an API key belongs to."},
        {"name": "Webhooks", "description": "Where we report what becomes of your sweeps."},
        {"name": "Ledger", "description": "The fees that were booked."},
        {"name": "Sandbox", "description": "For test keys: fund wallets, mine blocks, force outcomes."},
    ],
    "VERSION": "2.0.0",
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    "SERVERS": [{"url": "/", "description": "The deployment that serves this document."}],
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "sweepapi.api.openapi.schema.finish",
    ],
    "COMPONENT_SPLIT_PATCH": False,  # the serializers of PATCH say themselves that nothing is required
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # Named here, so that a new choice of the same field name cannot rename a generated type.
    "ENUM_NAME_OVERRIDES": {
        "PartnerStatus": "partners.models.Partner.Status",
        "JournalEntryKind": "ledger.models.JournalEntry.Kind",
        "AccountName": "ledger.models.Account.Name",
        "PostingDirection": ["debit", "credit"],
        "Scope": "partners.models.SCOPES",
        "KeyMode": "sweepapi.modes.Mode",
        "SweepStatus": "sweeps.models.SweepStatus",
        "SweepFlag": "sweeps.rails.evm.serializers.state.FLAGS",
        "TransactionStatus": "sweeps.models.SweepTransaction.Status",
        "TransactionSource": "sweeps.models.SweepTransaction.Source",
        "ExecutionStatus": "sweeps.models.Execution.Status",
        "TransactionFinality": "sweeps.models.SweepTransaction.Finality",
        "Settlement": "ledger.models.Settlement",
        "FeeMode": ["onchain_partner_fees", "offchain_accounting"],
        "BuildMode": "sweeps.rails.evm.serializers.answer.MODES",
        "SolanaBuildMode": ["v1_solana"],
        "PricePercentile": ["medium", "high", "veryHigh"],
        "ContractVersion": "sweeps.rails.evm.serializers.answer.CONTRACT_VERSIONS",
        "UnroutablePolicy": ["reject", "skip"],
        "LegFailurePolicy": ["revert", "skip"],
        "ApprovalPolicy": ["exact", "unlimited"],
        "WalletAtomic": ["supported", "ready", "unsupported"],
        "GasPayer": ["sponsored"],
        "SimulationStatus": ["ok", "reverted", "skipped"],
        "SignedExecution": "sweeps.rails.evm.serializers.finalize.SIGNED_EXECUTIONS",
        "AccountCode": ["none", "contract", "delegated"],
        "SendCallsVersion": ["2.0.0"],
        "WebhookTiming": "partners.webhooks.models.WebhookEndpoint.Timing",
        "WebhookPayload": "partners.webhooks.models.WebhookEndpoint.Payload",
        "WebhookDeliveryStatus": "partners.webhooks.models.WebhookDelivery.Status",
    },
    "WEBHOOKS": "sweeps.views.serializers.webhooks.WEBHOOKS",
    "SCHEMA_PATH_PREFIX": "/v[12]",
}
