// The handler passes on what a logged-in user may ask about own wallets, and nothing else.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { OTHER_WALLET, ORIGIN, chain, fund, handler, offerOf, outputToken, wallet } from "./world.ts";

let tokens: Record<string, string>;

before(async () => {
  tokens = await fund();
});

function asked(path: string, body?: object): Request {
  const headers = { "Content-Type": "application/json" };
  return new Request(`${ORIGIN}/api${path}`, body && { method: "POST", headers, body: JSON.stringify(body) });
}

async function refused(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}

const discovery = { chain, wallet, outputMint: outputToken };

test("an answer is passed back as it is, without the key", async () => {
  const response = await handler()(asked("/v2/sweep/discover", discovery));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("Cache-Control"), "no-store");
  assert(!(await response.text()).includes("swp_"));
});

test("without a login nothing is passed on", async () => {
  const response = await handler({ user: () => null })(asked("/v2/status"));
  assert.deepEqual(await refused(response), [401, "not_logged_in"]);
});

test("neither another's wallet nor another's sweep is passed on", async () => {
  const other = await handler()(asked("/v2/sweep/discover", { ...discovery, wallet: OTHER_WALLET }));
  assert.deepEqual(await refused(other), [403, "not_your_wallet"]);
  const { sweepId } = await offerOf(tokens.script);
  const stranger = handler({ user: () => ({ id: "8", wallets: [OTHER_WALLET] }) });
  assert.deepEqual(await refused(await stranger(asked(`/v2/sweep/status/${sweepId}`))), [403, "not_your_wallet"]);
  assert.equal((await handler()(asked(`/v2/sweep/status/${sweepId}`))).status, 200);
});

test("what is not allowed, and what is not about sweeps, is not passed on", async () => {
  const { sweepId } = await offerOf(tokens.script);
  const paths = [`/v2/sweep/status/${sweepId}/cancel`, "/v2/ledger/entries", "/v2/webhooks", "/v2/sweep/build/../status"];
  for (const path of paths) {
    assert.deepEqual(await refused(await handler()(asked(path, {}))), [404, "not_allowed"], path);
  }
  const cancelling = handler({ allowed: ["cancel"] });
  assert.equal((await cancelling(asked(`/v2/sweep/status/${sweepId}/cancel`, {}))).status, 200);
});

test("each user has a limit", async () => {
  const limited = handler({ requestsPerMinute: 1 });
  assert.equal((await limited(asked("/v2/status"))).status, 200);
  assert.deepEqual(await refused(await limited(asked("/v2/status"))), [429, "too_many_requests"]);
});

test("a body that the API would not take is not passed on", async () => {
  const response = await handler()(asked("/v2/sweep/discover", { ...discovery, padding: "x".repeat(3_000_000) }));
  assert.deepEqual(await refused(response), [413, "payload_too_large"]);
});
