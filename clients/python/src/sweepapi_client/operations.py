"""Every operation of one key, described once for both clients; types of bodies and answers are the API's own.

Each raises `SweepApiError` if the API refuses it, and `NoAnswerError`. Amounts are strings, in smallest units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sweepapi_client.calls import Call, Operations, Runner, keyed, operation, pages, path_of

if TYPE_CHECKING:
    from sweepapi_client.types import (
        Advanced,
        AdvanceRequest,
        Balances,
        BuildRequest,
        BuiltSolanaSweep,
        BuiltSweep,
        CancelRequest,
        ConfirmRequest,
        DiscoveredSolanaTokens,
        DiscoveredTokens,
        DiscoverRequest,
        EntryPosting,
        EvmDiscoverRequest,
        FinalizedSweep,
        FinalizeRequest,
        Funded,
        FundRequest,
        GetLedgerBalancesParametersQuery,
        GetStatementParametersQuery,
        ListedSweep,
        ListLedgerEntriesParametersQuery,
        ListSweepsParametersQuery,
        ListSweepsV1ParametersQuery,
        ListWebhookDeliveriesParametersQuery,
        OffchainSweepState,
        Partner,
        QuotedSweep,
        RefreshedSweep,
        Sandbox,
        ServiceStatus,
        SignedReceipt,
        SolanaBuildRequest,
        SolanaServiceStatus,
        Statement,
        SweepState,
        Webhook,
        WebhookChangeRequest,
        WebhookDelivery,
        WebhookList,
        WebhookReplay,
        WebhookReplayRequest,
        WebhookRequest,
        WebhookSecret,
    )


class SolanaOperations(Operations[Runner]):
    """Sweeps on Solana, which are found on chain: nothing is confirmed."""

    @operation
    def status(self) -> Call[SolanaServiceStatus]:
        """Return what the service supports now, its fees and limits."""
        return Call("GET", "/v1/status")

    @operation
    def discover(self, body: DiscoverRequest) -> Call[DiscoveredSolanaTokens]:
        """Find the tokens of a wallet that are worth sweeping, and its empty accounts."""
        return Call("POST", "/v1/sweep/discover", body)

    @operation
    def build(self, body: SolanaBuildRequest, *, idempotency_key: str | None = None) -> Call[BuiltSolanaSweep]:
        """Make an offer: transactions for the user to sign and send."""
        return Call("POST", "/v1/sweep/build", body, headers=keyed(idempotency_key))

    @operation
    def sweep(self, sweep_id: str) -> Call[OffchainSweepState]:
        """Return a sweep as it is now."""
        return Call("GET", path_of("/v1/sweep/status/{}", sweep_id))

    @pages
    def history(self, query: ListSweepsV1ParametersQuery | None = None) -> Call[ListedSweep]:
        """List all sweeps on Solana, the newest first."""
        return Call("GET", "/v1/sweep/history", query=query or {})


class WebhookOperations(Operations[Runner]):
    """The endpoints that messages are sent to."""

    @operation
    def list(self) -> Call[WebhookList]:
        """List all endpoints."""
        return Call("GET", "/v2/webhooks")

    @operation
    def create(self, body: WebhookRequest) -> Call[WebhookSecret]:
        """Add an endpoint; the answer has its secret, which is shown once."""
        return Call("POST", "/v2/webhooks", body, is_repeatable=False)

    @operation
    def get(self, webhook_id: str) -> Call[Webhook]:
        """Return an endpoint."""
        return Call("GET", path_of("/v2/webhooks/{}", webhook_id))

    @operation
    def update(self, webhook_id: str, body: WebhookChangeRequest) -> Call[Webhook]:
        """Change some fields of an endpoint."""
        return Call("PATCH", path_of("/v2/webhooks/{}", webhook_id), body)

    @operation
    def delete(self, webhook_id: str) -> Call[Webhook]:
        """Delete an endpoint; not repeated, because a repetition would find nothing to delete."""
        return Call("DELETE", path_of("/v2/webhooks/{}", webhook_id), is_repeatable=False)

    @pages
    def deliveries(
        self, webhook_id: str, query: ListWebhookDeliveriesParametersQuery | None = None
    ) -> Call[WebhookDelivery]:
        """List what was sent to an endpoint, the newest first."""
        return Call("GET", path_of("/v2/webhooks/{}/deliveries", webhook_id), query=query or {})

    @operation
    def replay(self, webhook_id: str, body: WebhookReplayRequest) -> Call[WebhookReplay]:
        """Send messages again."""
        return Call("POST", path_of("/v2/webhooks/{}/replay", webhook_id), body, is_repeatable=False)

    @operation
    def rotate_secret(self, webhook_id: str) -> Call[WebhookSecret]:
        """Renew the secret; the answer shows it once, and the old one is used beside it for a while."""
        return Call("POST", path_of("/v2/webhooks/{}/rotate-secret", webhook_id), {}, is_repeatable=False)

    @operation
    def ping(self, webhook_id: str) -> Call[WebhookDelivery]:
        """Send a message to try the endpoint."""
        return Call("POST", path_of("/v2/webhooks/{}/ping", webhook_id), {}, is_repeatable=False)


class SandboxOperations(Operations[Runner]):
    """What a test key may do with a sandbox chain."""

    @operation
    def status(self) -> Call[Sandbox]:
        """Return the sandbox chains, and the tokens and amounts that force outcomes."""
        return Call("GET", "/v2/sandbox")

    @operation
    def fund(self, body: FundRequest) -> Call[Funded]:
        """Give a wallet coins and tokens."""
        return Call("POST", "/v2/sandbox/fund", body, is_repeatable=False)

    @operation
    def advance(self, body: AdvanceRequest) -> Call[Advanced]:
        """Mine blocks and move the clock."""
        return Call("POST", "/v2/sandbox/advance", body, is_repeatable=False)


class SweepOperations(Operations[Runner]):
    """The operations on sweeps and the ledger, and the groups of the others."""

    def __init__(self, runner: Runner) -> None:
        super().__init__(runner)
        self.solana = SolanaOperations(runner)
        self.webhooks = WebhookOperations(runner)
        self.sandbox = SandboxOperations(runner)

    @operation
    def status(self) -> Call[ServiceStatus]:
        """Return what the service supports now, its fees and limits."""
        return Call("GET", "/v2/status")

    @operation
    def partner(self) -> Call[Partner]:
        """Return the partner whose key this is, and what the key may do."""
        return Call("GET", "/v2/partner")

    @operation
    def discover(self, body: EvmDiscoverRequest) -> Call[DiscoveredTokens]:
        """Find the tokens of a wallet that are worth sweeping."""
        return Call("POST", "/v2/sweep/discover", body)

    @operation
    def quote(self, body: BuildRequest) -> Call[QuotedSweep]:
        """Return what a build would offer; nothing is stored or signed."""
        return Call("POST", "/v2/sweep/quote", body)

    @operation
    def build(self, body: BuildRequest, *, idempotency_key: str | None = None) -> Call[BuiltSweep]:
        """Make an offer for the user to sign and send."""
        return Call("POST", "/v2/sweep/build", body, headers=keyed(idempotency_key))

    @operation
    def refresh(self, sweep_id: str, *, idempotency_key: str | None = None) -> Call[RefreshedSweep]:
        """Offer the same sweep at today's prices, under the same authorization."""
        return Call("POST", path_of("/v2/sweep/build/{}/refresh", sweep_id), {}, headers=keyed(idempotency_key))

    @operation
    def finalize(self, sweep_id: str, body: FinalizeRequest) -> Call[FinalizedSweep]:
        """Return the transaction with the user's signatures in it."""
        return Call("POST", path_of("/v2/sweep/status/{}/finalize", sweep_id), body)

    @operation
    def confirm(self, sweep_id: str, body: ConfirmRequest) -> Call[SweepState]:
        """Report what the user sent, and return the sweep, which is `pending` until that is mined."""
        return Call("POST", path_of("/v2/sweep/status/{}/confirm", sweep_id), body)

    @operation
    def sweep(self, sweep_id: str) -> Call[SweepState]:
        """Return a sweep as it is now."""
        return Call("GET", path_of("/v2/sweep/status/{}", sweep_id))

    @operation
    def cancel(
        self, sweep_id: str, body: CancelRequest | None = None, *, idempotency_key: str | None = None
    ) -> Call[SweepState]:
        """Withdraw an offer that the user declined."""
        path = path_of("/v2/sweep/status/{}/cancel", sweep_id)
        return Call("POST", path, body or {}, headers=keyed(idempotency_key))

    @operation
    def receipt(self, sweep_id: str) -> Call[SignedReceipt]:
        """Return the signed receipt of a final sweep."""
        return Call("GET", path_of("/v2/sweep/status/{}/receipt", sweep_id))

    @pages
    def history(self, query: ListSweepsParametersQuery | None = None) -> Call[ListedSweep]:
        """List all sweeps, the newest first."""
        return Call("GET", "/v2/sweep/history", query=query or {})

    @pages
    def ledger_entries(self, query: ListLedgerEntriesParametersQuery | None = None) -> Call[EntryPosting]:
        """List all postings of your ledger, the newest first."""
        return Call("GET", "/v2/ledger/entries", query=query or {})

    @operation
    def ledger_balances(self, query: GetLedgerBalancesParametersQuery | None = None) -> Call[Balances]:
        """Return what you have earned and been paid."""
        return Call("GET", "/v2/ledger/balances", query=query or {})

    @operation
    def statement(self, month: str, query: GetStatementParametersQuery | None = None) -> Call[Statement]:
        """Return a month of your ledger such as `2026-01`, with the signed state of your tree at its end."""
        return Call("GET", path_of("/v2/statements/{}", month), query=query or {})

    @operation
    def proof_keys(self) -> Call[dict[str, Any]]:
        """Return the keys that receipts and statements are signed with, as a JSON Web Key Set."""
        return Call("GET", "/.well-known/jwks.json", has_envelope=False)
