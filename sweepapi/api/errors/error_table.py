"""How each error is answered over HTTP and by which operations, in one table; ``docs/errors.md`` shows it to partners.

Codes are a promise: they may be added, never renamed.
"""

from dataclasses import dataclass

from sweepapi import errors
from sweepapi.errors import FieldError, RefusedToken

# Operations that share errors, by their ids in the OpenAPI document; a new operation belongs to each group that fits.
BUILDS = ("quoteSweep", "buildSweep", "buildSolanaSweep")
DISCOVERIES = ("discoverTokens", "discoverSolanaTokens")
OF_WEBHOOK_WITH_BODY = ("updateWebhook", "pingWebhook", "rotateWebhookSecret", "replayWebhook")
OF_WEBHOOK = (*OF_WEBHOOK_WITH_BODY, "getWebhook", "deleteWebhook", "listWebhookDeliveries")
WEBHOOKS_WITH_BODY = ("createWebhook", *OF_WEBHOOK_WITH_BODY)
SANDBOX_WITH_BODY = ("advanceSandbox", "fundSandboxWallet")
WITH_BODY = (
    *(*BUILDS, "refreshSweep", "cancelSweep", "finalizeSweep", "confirmSweep"),
    *(*DISCOVERIES, *WEBHOOKS_WITH_BODY, *SANDBOX_WITH_BODY),
)
OF_PENDING = ("refreshSweep", "cancelSweep", "finalizeSweep", "confirmSweep")
READING_A_CHAIN = (*BUILDS, "refreshSweep", "finalizeSweep")
REPEATABLE = ("buildSweep", "buildSolanaSweep", "refreshSweep", "cancelSweep")  # under an Idempotency-Key
LISTING = ("listSweeps", "listSweepsV1", "listLedgerEntries")
STATEMENTS = ("getStatement", "getStatementProof")
QUERIES = (*LISTING, "getLedgerBalances", "listWebhookDeliveries", *STATEMENTS)
WEBHOOKS_WITHOUT_BODY = ("listWebhooks", "getWebhook", "deleteWebhook")
RECEIPTS = ("getSweepReceipt", "getSweepReceiptV1")
STORED = ("getSweep", "getSweepV1", *RECEIPTS)
WITH_SCOPE = (*WITH_BODY, *QUERIES, *STORED, "listOutputTokens", *WEBHOOKS_WITHOUT_BODY)
WITH_KEY = (*WITH_SCOPE, "getPartner", "getSandbox")
EVERY = (*WITH_KEY, "getServiceStatus", "getServiceStatusV1")


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """How one class of errors is answered.

    ``retryable`` says whether the same request can succeed later, and ``operations`` which operations document it.
    ``example`` is a detail for the OpenAPI document; None if such an error has no details.
    """

    code: str
    status: int
    retryable: bool = False
    operations: tuple[str, ...] = ()
    example: FieldError | None = None

    @property
    def where(self) -> str:
        """The operations in words."""
        groups = {
            EVERY: "all",
            WITH_KEY: "all that need an API key",
            WITH_SCOPE: "all that need an API key, but getPartner and getSandbox",
            (): "none",
        }
        return groups.get(self.operations) or ", ".join(self.operations)


ERROR_TABLE: dict[type[errors.SweepApiError], ErrorRow] = {
    errors.InvalidRequest: ErrorRow(
        "invalid_request",
        400,
        operations=(*WITH_BODY, *QUERIES),
        example=FieldError("slippageBps", "required", "This field is required."),
    ),
    errors.ForbiddenField: ErrorRow(
        "forbidden_field",
        400,
        operations=WITH_BODY,
        example=FieldError("partnerId", "forbidden_field", "This is set by your API key and cannot be sent."),
    ),
    errors.UnsupportedChain: ErrorRow(
        "unsupported_chain",
        400,
        operations=(*BUILDS, "refreshSweep", *DISCOVERIES, *LISTING, *SANDBOX_WITH_BODY),
        example=FieldError("chain", "unsupported", "GET /v2/status lists the chains."),
    ),
    errors.MissingApiKey: ErrorRow("missing_api_key", 401, operations=WITH_KEY),
    errors.InvalidApiKey: ErrorRow("invalid_api_key", 401, operations=WITH_KEY),
    errors.IpNotAllowed: ErrorRow("ip_not_allowed", 403, operations=WITH_KEY),
    errors.PartnerSuspended: ErrorRow("partner_suspended", 403, operations=WITH_KEY),
    errors.InsufficientScope: ErrorRow(
        "insufficient_scope",
        403,
        operations=WITH_SCOPE,
        example=FieldError("x-api-key", "required_scope", "build"),
    ),
    errors.LiveKeyRefused: ErrorRow("live_key_refused", 403, operations=("getSandbox", *SANDBOX_WITH_BODY)),
    errors.NotFound: ErrorRow("not_found", 404),
    errors.SweepNotFound: ErrorRow("sweep_not_found", 404, operations=(*OF_PENDING, *STORED)),
    errors.WebhookNotFound: ErrorRow("webhook_not_found", 404, operations=OF_WEBHOOK),
    errors.StatementNotFound: ErrorRow("statement_not_found", 404, operations=STATEMENTS),
    errors.EntryNotFound: ErrorRow("entry_not_found", 404, operations=("getStatementProof",)),
    errors.MethodNotAllowed: ErrorRow("method_not_allowed", 405, operations=EVERY),
    errors.NotAcceptable: ErrorRow("not_acceptable", 406, operations=EVERY),
    errors.RequestTimeout: ErrorRow("request_timeout", 408, retryable=True, operations=EVERY),
    errors.SweepAlreadyConfirmed: ErrorRow(
        "sweep_already_confirmed",
        409,
        operations=OF_PENDING,
        example=FieldError(
            "txHash", "accepted_hash", "0xcc34ef733b8d502b098225ac606aa9d0544c89db9b12e70082e7e4f361bedfee"
        ),
    ),
    errors.SweepExpired: ErrorRow("sweep_expired", 409, operations=OF_PENDING),
    errors.SweepVoid: ErrorRow("sweep_void", 409, operations=("refreshSweep", "finalizeSweep", "confirmSweep")),
    errors.SweepFailed: ErrorRow("sweep_failed", 409, operations=OF_PENDING),
    errors.NewBuildRequired: ErrorRow("new_build_required", 409, operations=("refreshSweep", "finalizeSweep")),
    errors.ExecutionNotOffered: ErrorRow("execution_not_offered", 409, operations=("finalizeSweep",)),
    errors.TooManyOffers: ErrorRow("too_many_offers", 409, operations=("refreshSweep",)),
    errors.TooManyCandidates: ErrorRow("too_many_candidates", 409, operations=("confirmSweep",)),
    errors.SweepNotVoidable: ErrorRow("sweep_not_voidable", 409, operations=("cancelSweep",)),
    errors.SweepNotCancellable: ErrorRow("sweep_not_cancellable", 409, operations=("cancelSweep",)),
    errors.ReceiptNotReady: ErrorRow(
        "receipt_not_ready",
        409,
        retryable=True,
        operations=RECEIPTS,
        example=FieldError("finality", "current", "included"),
    ),
    errors.StatementNotReady: ErrorRow("statement_not_ready", 409, retryable=True, operations=STATEMENTS),
    errors.IdempotencyKeyReused: ErrorRow("idempotency_key_reused", 409, operations=REPEATABLE),
    errors.IdempotencyInProgress: ErrorRow("idempotency_in_progress", 409, retryable=True, operations=REPEATABLE),
    errors.TooManyWebhooks: ErrorRow("too_many_webhooks", 409, operations=("createWebhook",)),
    errors.PayloadTooLarge: ErrorRow("payload_too_large", 413, operations=WITH_BODY),
    errors.UnsupportedMediaType: ErrorRow("unsupported_media_type", 415, operations=WITH_BODY),
    errors.TokensRefused: ErrorRow(
        "tokens_refused",
        422,
        operations=BUILDS,
        example=RefusedToken(
            "tokens[0].mint", "price_impact_too_high", "The price impact is 1834 basis points.", value="25000000"
        ),
    ),
    errors.EventMismatch: ErrorRow(
        "event_mismatch",
        422,
        operations=("confirmSweep",),
        example=FieldError("event", "missing", "The contract emitted no SweepExecutedV5."),
    ),
    errors.TransactionReverted: ErrorRow(
        "transaction_reverted",
        422,
        operations=("confirmSweep",),
        example=FieldError(
            "tokens[0].mint",
            "reverted",
            "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913: The price moved: the output was below the minimum.",
        ),
    ),
    errors.Uneconomic: ErrorRow(
        "uneconomic",
        422,
        operations=BUILDS,
        example=FieldError(
            "execution",
            "uneconomic",
            "By calls it costs 573782521074618 wei for 529684 gas, which is 573782521074618 of the output, and brings "
            "507322415490184. It pays below 957782556 wei a gas.",
        ),
    ),
    errors.InsufficientBalance: ErrorRow(
        "insufficient_balance",
        422,
        operations=("buildSolanaSweep",),
        example=FieldError(
            "wallet", "insufficient_balance", "The wallet needs 2044280 lamports for fees and rent, and has 0."
        ),
    ),
    errors.SignatureInvalid: ErrorRow(
        "signature_invalid",
        422,
        operations=("finalizeSweep",),
        example=FieldError("signatures[0]", "recovered_address", "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF"),
    ),
    errors.WouldRevert: ErrorRow(
        "would_revert",
        422,
        retryable=True,
        operations=("finalizeSweep",),
        example=FieldError(
            "transaction",
            "reverted",
            "Permit2 could not take a token: its allowance or the user's balance is too low.",
        ),
    ),
    errors.RateLimited: ErrorRow("rate_limited", 429, retryable=True, operations=WITH_KEY),
    errors.InternalError: ErrorRow("internal_error", 500, retryable=True, operations=EVERY),
    # Of the proxy in front of us, config/nginx/nginx.conf; so are some answers with 408, 413 and 429.
    errors.BadGateway: ErrorRow("bad_gateway", 502, retryable=True, operations=EVERY),
    errors.GatewayTimeout: ErrorRow("gateway_timeout", 504, retryable=True, operations=EVERY),
    errors.ServiceUnavailable: ErrorRow("service_unavailable", 503, retryable=True, operations=EVERY),
    errors.TooManyExports: ErrorRow("too_many_exports", 503, retryable=True, operations=("listLedgerEntries",)),
    errors.TooManyAtOnce: ErrorRow(
        "too_many_at_once", 503, retryable=True, operations=(*READING_A_CHAIN, *DISCOVERIES, *SANDBOX_WITH_BODY)
    ),
    errors.ChainUnavailable: ErrorRow(
        "chain_unavailable", 503, retryable=True, operations=(*READING_A_CHAIN, *DISCOVERIES, *SANDBOX_WITH_BODY)
    ),
    errors.SwapUnavailable: ErrorRow(
        "swap_unavailable",
        503,
        retryable=True,
        operations=("buildSolanaSweep",),
        example=FieldError(
            "tokens[0].mint",
            "not_quoted",
            "It was not quoted: there are too many tokens, or the swap API did not answer in time.",
        ),
    ),
    errors.BuildDisabled: ErrorRow(
        "build_disabled", 503, retryable=True, operations=(*BUILDS, "refreshSweep", "discoverTokens")
    ),
}
