// For your server, which holds the API key: every operation on sweeps, the ledger and webhooks, and a handler for your page.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/api.ts";
import { answered, type Answered } from "./requests.ts";

export { isRefusal, NoAnswerError, SweepApiError, type ErrorDetail, type Failure } from "./errors.ts";
export { createHandler, type HandlerOptions, type Operation, type User } from "./handler.ts";
export type { components, paths } from "./generated/api.ts";

type Schemas = components["schemas"];
type Query<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Found } } } ? NonNullable<Found> : never;
type Body<Path extends keyof paths, Method extends "post" | "patch"> = paths[Path] extends {
  [M in Method]: { requestBody?: { content: { "application/json": infer Found } } };
}
  ? Found
  : never;

export interface ServerOptions {
  /** Such as `https://api.example.com`. */
  baseUrl: string;
  apiKey: string;
  /** How often a request that failed for a while is repeated; 2 unless it is said. */
  retries?: number;
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface RepeatableOptions extends CallOptions {
  /** Names the request, so that a repeated one has no second effect; a new one unless it is said. */
  idempotencyKey?: string;
}

/** Thrown by `createSweepServer` where a page could read the key. */
export class KeyInBrowserError extends Error {
  override readonly name = "KeyInBrowserError";
}

export type SweepServer = ReturnType<typeof createSweepServer>;

/** Returns the operations of one key; each throws `SweepApiError` if it is refused, and `NoAnswerError`. */
export function createSweepServer(options: ServerOptions) {
  if (typeof document !== "undefined") {
    throw new KeyInBrowserError("an API key belongs on your server: a page calls your handler");
  }
  const { baseUrl, apiKey, retries = 2, fetch } = options;
  const api = createClient<paths>({
    baseUrl,
    headers: { "x-api-key": apiKey },
    redirect: "error", // it would take the key to another host
    ...(fetch && { fetch: (request: Request) => fetch(request) }),
  });
  const repeated = ({ signal }: CallOptions) => ({ times: retries, signal });
  const onceOnly = ({ signal }: CallOptions) => ({ times: 0, signal });
  const keyed = ({ idempotencyKey = crypto.randomUUID() }: RepeatableOptions) => ({ "Idempotency-Key": idempotencyKey });
  const aborted = ({ signal }: CallOptions) => (signal ? { signal } : {});
  const of = (sweep_id: string) => ({ path: { sweep_id } });

  return {
    /** What the service supports now, its fees and limits. */
    status: (call: CallOptions = {}) => answered(() => api.GET("/v2/status", aborted(call)), repeated(call)),

    /** Which tokens of a wallet are worth sweeping. */
    discover: (body: Schemas["EvmDiscoverRequest"], call: CallOptions = {}) =>
      answered(() => api.POST("/v2/sweep/discover", { body, ...aborted(call) }), repeated(call)),

    /** What a build would offer; nothing is stored or signed. */
    quote: (body: Schemas["BuildRequest"], call: CallOptions = {}) =>
      answered(() => api.POST("/v2/sweep/quote", { body, ...aborted(call) }), repeated(call)),

    /** An offer for the user to sign and send. */
    build: (body: Schemas["BuildRequest"], call: RepeatableOptions = {}) => {
      const params = { header: keyed(call) };
      return answered(() => api.POST("/v2/sweep/build", { params, body, ...aborted(call) }), repeated(call));
    },

    /** The same sweep at today's prices, under the same authorization. */
    refresh: (sweepId: string, call: RepeatableOptions = {}) => {
      const params = { ...of(sweepId), header: keyed(call) };
      return answered(
        () => api.POST("/v2/sweep/build/{sweep_id}/refresh", { params, body: {}, ...aborted(call) }),
        repeated(call),
      );
    },

    /** The transaction with the user's signatures in it. */
    finalize: (sweepId: string, body: Schemas["FinalizeRequest"], call: CallOptions = {}) =>
      answered(
        () => api.POST("/v2/sweep/status/{sweep_id}/finalize", { params: of(sweepId), body, ...aborted(call) }),
        repeated(call),
      ),

    /** Reports what the user sent, and returns what is known of it. */
    confirm: (sweepId: string, body: Schemas["ConfirmRequest"], call: CallOptions = {}) =>
      answered(
        () => api.POST("/v2/sweep/status/{sweep_id}/confirm", { params: of(sweepId), body, ...aborted(call) }),
        repeated(call),
      ),

    /** A sweep as it is now. */
    sweep: (sweepId: string, call: CallOptions = {}) =>
      answered(() => api.GET("/v2/sweep/status/{sweep_id}", { params: of(sweepId), ...aborted(call) }), repeated(call)),

    /** Withdraws an offer that the user declined. */
    cancel: (sweepId: string, body: Body<"/v2/sweep/status/{sweep_id}/cancel", "post">, call: RepeatableOptions = {}) => {
      const params = { ...of(sweepId), header: keyed(call) };
      return answered(
        () => api.POST("/v2/sweep/status/{sweep_id}/cancel", { params, body, ...aborted(call) }),
        repeated(call),
      );
    },

    /** The signed receipt of a final sweep. */
    receipt: (sweepId: string, call: CallOptions = {}) =>
      answered(
        () => api.GET("/v2/sweep/status/{sweep_id}/receipt", { params: of(sweepId), ...aborted(call) }),
        repeated(call),
      ),

    /** All sweeps, the newest first, page by page. */
    history: (query: Query<"/v2/sweep/history"> = {}, call: CallOptions = {}) =>
      itemsOf(query, (asked) =>
        answered(() => api.GET("/v2/sweep/history", { params: { query: asked }, ...aborted(call) }), repeated(call)),
      ),

    /** All postings of your ledger, the newest first, page by page. */
    ledgerEntries: (query: Query<"/v2/ledger/entries"> = {}, call: CallOptions = {}) =>
      itemsOf(query, (asked) =>
        answered(
          () =>
            // It is CSV only for those who ask for that.
            api.GET("/v2/ledger/entries", { params: { query: asked }, ...aborted(call) }) as Promise<
              Answered<Schemas["PostingPage"]>
            >,
          repeated(call),
        ),
      ),

    /** What you have earned and been paid. */
    ledgerBalances: (query: Query<"/v2/ledger/balances"> = {}, call: CallOptions = {}) =>
      answered(() => api.GET("/v2/ledger/balances", { params: { query }, ...aborted(call) }), repeated(call)),

    /** A month of your ledger, with the signed state of your tree at its end. */
    statement: (month: string, query: Query<"/v2/statements/{month}"> = {}, call: CallOptions = {}) =>
      answered(
        () => api.GET("/v2/statements/{month}", { params: { path: { month }, query }, ...aborted(call) }),
        repeated(call),
      ),

    /** Sweeps on Solana, which are found on chain: nothing is confirmed. */
    solana: {
      discover: (body: Schemas["DiscoverRequest"], call: CallOptions = {}) =>
        answered(() => api.POST("/v1/sweep/discover", { body, ...aborted(call) }), repeated(call)),

      build: (body: Schemas["SolanaBuildRequest"], call: RepeatableOptions = {}) => {
        const params = { header: keyed(call) };
        return answered(() => api.POST("/v1/sweep/build", { params, body, ...aborted(call) }), repeated(call));
      },

      sweep: (sweepId: string, call: CallOptions = {}) =>
        answered(() => api.GET("/v1/sweep/status/{sweep_id}", { params: of(sweepId), ...aborted(call) }), repeated(call)),
    },

    webhooks: {
      list: (call: CallOptions = {}) => answered(() => api.GET("/v2/webhooks", aborted(call)), repeated(call)),

      /** The answer has the endpoint's secret, which is shown once. */
      create: (body: Body<"/v2/webhooks", "post">, call: CallOptions = {}) =>
        answered(() => api.POST("/v2/webhooks", { body, ...aborted(call) }), onceOnly(call)),

      update: (webhook_id: string, body: Body<"/v2/webhooks/{webhook_id}", "patch">, call: CallOptions = {}) =>
        answered(
          () => api.PATCH("/v2/webhooks/{webhook_id}", { params: { path: { webhook_id } }, body, ...aborted(call) }),
          repeated(call),
        ),

      get: (webhook_id: string, call: CallOptions = {}) =>
        answered(
          () => api.GET("/v2/webhooks/{webhook_id}", { params: { path: { webhook_id } }, ...aborted(call) }),
          repeated(call),
        ),

      /** A repetition finds nothing more to delete, so it is not repeated. */
      delete: (webhook_id: string, call: CallOptions = {}) =>
        answered(
          () => api.DELETE("/v2/webhooks/{webhook_id}", { params: { path: { webhook_id } }, ...aborted(call) }),
          onceOnly(call),
        ),

      /** What was sent to an endpoint, the newest first, page by page. */
      deliveries: (
        webhook_id: string,
        query: Query<"/v2/webhooks/{webhook_id}/deliveries"> = {},
        call: CallOptions = {},
      ) =>
        itemsOf(query, (asked) => {
          const params = { path: { webhook_id }, query: asked };
          return answered(
            () => api.GET("/v2/webhooks/{webhook_id}/deliveries", { params, ...aborted(call) }),
            repeated(call),
          );
        }),

      /** Sends messages again. */
      replay: (webhook_id: string, body: Body<"/v2/webhooks/{webhook_id}/replay", "post">, call: CallOptions = {}) =>
        answered(
          () => api.POST("/v2/webhooks/{webhook_id}/replay", { params: { path: { webhook_id } }, body, ...aborted(call) }),
          onceOnly(call),
        ),

      /** The answer has the new secret, which is shown once; the old one is used beside it for a while. */
      rotateSecret: (webhook_id: string, call: CallOptions = {}) =>
        answered(
          () =>
            api.POST("/v2/webhooks/{webhook_id}/rotate-secret", {
              params: { path: { webhook_id } },
              body: {},
              ...aborted(call),
            }),
          onceOnly(call),
        ),

      /** Sends a message to try the endpoint. */
      ping: (webhook_id: string, call: CallOptions = {}) =>
        answered(
          () =>
            api.POST("/v2/webhooks/{webhook_id}/ping", { params: { path: { webhook_id } }, body: {}, ...aborted(call) }),
          onceOnly(call),
        ),
    },

    /** The client below, for operations that have no method here. */
    api,
  };
}

/** Yields the items of all pages, from the cursor in a query on. */
async function* itemsOf<Asked extends { cursor?: string }, Item>(
  query: Asked,
  pageOf: (query: Asked) => Promise<{ items: Item[]; nextCursor: string | null }>,
): AsyncGenerator<Item, void> {
  for (let asked = query; ; ) {
    const { items, nextCursor } = await pageOf(asked);
    yield* items;
    if (nextCursor === null) {
      return;
    }
    asked = { ...asked, cursor: nextCursor };
  }
}
