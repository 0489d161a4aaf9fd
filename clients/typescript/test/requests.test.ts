// Requests are repeated where that helps and does no harm, and end when their signal does.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { NoAnswerError, createSweepServer, isRefusal } from "../src/server.ts";
import { apiKey, baseUrl, chain, fund, outputToken, server, wallet } from "./world.ts";

let tokens: Record<string, string>;

before(async () => {
  tokens = await fund();
});

function wanted() {
  const amount = `2${"0".repeat(18)}`;
  const swept = [{ mint: tokens.script ?? "", amount }];
  return { chain, wallet, outputMint: outputToken, slippageBps: 100, tokens: swept, acceptUneconomic: true };
}

/** A connection that does something else for the first requests; it remembers the keys of all. */
function connection(...first: (() => Response)[]) {
  const keys: (string | null)[] = [];
  return {
    keys,
    fetch: async (request: Request): Promise<Response> => {
      keys.push(request.headers.get("Idempotency-Key"));
      const instead = first.shift();
      return instead === undefined ? fetch(request) : instead();
    },
  };
}

function broken(): never {
  throw new TypeError("fetch failed");
}

function unavailable(seconds: string): Response {
  const error = { code: "chain_unavailable", message: "", details: [], retryable: true, requestId: "", docUrl: "" };
  return Response.json({ ok: false, error }, { status: 503, headers: { "Retry-After": seconds } });
}

test("a build whose answer was lost is repeated under its key, and makes one sweep", async () => {
  let lost: Promise<Response> | undefined;
  const keys: (string | null)[] = [];
  const flaky = async (request: Request): Promise<Response> => {
    keys.push(request.headers.get("Idempotency-Key"));
    if (lost === undefined) {
      lost = fetch(request);
      await lost;
      broken();
    }
    return fetch(request);
  };
  const offer = await server({ fetch: flaky as typeof fetch }).build(wanted());
  const first = (await (await lost!).json()) as { data: { sweepId: string } };
  assert.equal(offer.sweepId, first.data.sweepId);
  assert.equal(new Set(keys).size, 1);
});

test("what is unavailable is asked again when it says", async () => {
  const { fetch, keys } = connection(() => unavailable("1"));
  const began = Date.now();
  await server({ fetch: fetch as typeof globalThis.fetch }).build(wanted());
  assert(Date.now() - began >= 1000);
  assert.equal(keys.length, 2);
});

test("a wait that is too long, and too many failures, are told", async () => {
  const long = connection(() => unavailable("600"));
  await assert.rejects(server({ fetch: long.fetch as typeof fetch }).build(wanted()), (error) => isRefusal(error, "chain_unavailable"));
  const never = connection(broken, broken, broken);
  await assert.rejects(server({ fetch: never.fetch as typeof fetch }).build(wanted()), NoAnswerError);
});

test("an endpoint is not created twice", async () => {
  const { fetch, keys } = connection(broken);
  const { webhooks } = server({ fetch: fetch as typeof globalThis.fetch });
  await assert.rejects(webhooks.create({ url: "https://partner.example/hooks", types: ["sweep.completed"] }), NoAnswerError);
  assert.equal(keys.length, 1);
});

test("a signal ends a request, and the wait before the next", async () => {
  const { fetch } = connection(() => unavailable("15"));
  const { build } = server({ fetch: fetch as typeof globalThis.fetch });
  const reason = new Error("the user left");
  const aborting = new AbortController();
  const built = build(wanted(), { signal: aborting.signal });
  setTimeout(() => {
    aborting.abort(reason);
  }, 100);
  await assert.rejects(built, reason);
});

test("a page that got hold of the server's entry is refused the key", () => {
  Object.assign(globalThis, { document: {} });
  try {
    assert.throws(() => createSweepServer({ baseUrl, apiKey }), { name: "KeyInBrowserError" });
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
});
