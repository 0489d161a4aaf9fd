// What a page asks its own back end for, where the handler passes it on with the key.
import type { components } from "./generated/api.ts";
import { answered } from "./requests.ts";

type Schemas = components["schemas"];

const REPEATED = 2;

export interface BackendOptions {
  /** Where your handler is, such as `/api/sweeps`. */
  backend: string;
  signal?: AbortSignal;
  fetch?: typeof globalThis.fetch;
}

/** Returns the operations; each throws `SweepApiError` and `NoAnswerError`, or the reason of the signal. */
export function createBackend({ backend, signal, fetch = globalThis.fetch }: BackendOptions) {
  function call<Data>(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Data> {
    const init: RequestInit = {
      method,
      headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    };
    return answered<Data>(
      async () => {
        const response = await fetch(backend + path, init);
        const answer: unknown = await response.json().catch(() => null);
        return response.ok ? { data: answer as { data: Data }, response } : { error: answer, response };
      },
      { times: REPEATED, signal },
    );
  }

  // A repetition has the same key, so it has no second effect.
  function once<Data>(path: string, body: object): Promise<Data> {
    return call<Data>("POST", path, body, { "Idempotency-Key": crypto.randomUUID() });
  }

  const sweepAt = (sweepId: string) => `/v2/sweep/status/${sweepId}`;
  return {
    /** What the service supports now, its fees and limits. */
    status: () => call<Schemas["ServiceStatus"]>("GET", "/v2/status"),

    /** Which tokens of a wallet are worth sweeping. */
    discover: (body: Schemas["EvmDiscoverRequest"]) =>
      call<Schemas["DiscoveredTokens"]>("POST", "/v2/sweep/discover", body),

    /** What a build would offer; nothing is stored or signed. */
    quote: (body: Schemas["BuildRequest"]) => call<Schemas["QuotedSweep"]>("POST", "/v2/sweep/quote", body),

    /** An offer for the user to sign and send. */
    build: (body: Schemas["BuildRequest"]) => once<Schemas["BuiltSweep"]>("/v2/sweep/build", body),

    /** The same sweep at today's prices. */
    refresh: (sweepId: string) => once<Schemas["BuiltSweep"]>(`/v2/sweep/build/${sweepId}/refresh`, {}),

    /** The transaction with the user's signatures in it. */
    finalize: (sweepId: string, body: Schemas["FinalizeRequest"]) =>
      call<Schemas["FinalizedSweep"]>("POST", `${sweepAt(sweepId)}/finalize`, body),

    /** Reports what the user sent, and returns what is known of it. */
    confirm: (sweepId: string, body: object) => call<Schemas["SweepState"]>("POST", `${sweepAt(sweepId)}/confirm`, body),

    /** A sweep as it is now. */
    sweep: (sweepId: string) => call<Schemas["SweepState"]>("GET", sweepAt(sweepId)),

    /** Withdraws an offer that the user declined; your handler has to allow it. */
    cancel: (sweepId: string) => once<Schemas["SweepState"]>(`${sweepAt(sweepId)}/cancel`, {}),

    /** The signed receipt of a final sweep. */
    receipt: (sweepId: string) => call<Schemas["SignedReceipt"]>("GET", `${sweepAt(sweepId)}/receipt`),

    /** Sweeps on Solana, which are found on chain: nothing is confirmed. */
    solana: {
      discover: (body: Schemas["DiscoverRequest"]) =>
        call<Schemas["DiscoveredSolanaTokens"]>("POST", "/v1/sweep/discover", body),
      build: (body: Schemas["SolanaBuildRequest"]) => once<Schemas["BuiltSolanaSweep"]>("/v1/sweep/build", body),
      sweep: (sweepId: string) => call<Schemas["OffchainSweepState"]>("GET", `/v1/sweep/status/${sweepId}`),
    },
  };
}
