// The whole story against the local world: from a discovery to the ledger, in each way that a wallet can go, and what fails.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import {
  SweepApiError,
  UserRejectedError,
  WalletError,
  chooseExecution,
  executeOffer,
  isRefusal,
  type Progress,
} from "../src/wallet.ts";
import { chain, fund, offerOf, outputToken, page, provider, server, wallet } from "./world.ts";

let tokens: Record<string, string>;

before(async () => {
  tokens = await fund();
});

/** The user's wallet, but for what it answers to some methods. */
function walletWith(answers: Record<string, (params: unknown) => unknown>) {
  return {
    request: async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
      const answer = answers[method] ?? (() => provider.request({ method, params }));
      return await answer(params);
    },
  };
}

function refusing(code: number): () => never {
  return () => {
    throw Object.assign(new Error("refused"), { code });
  };
}

const withoutBatches = walletWith({ wallet_getCapabilities: refusing(-32601) });

test("what is worth sweeping is swept with one prompt, and is in the history and the ledger", async () => {
  const wanted = { chain, wallet, outputMint: outputToken, execution: { wallet: { atomic: "ready" as const } } };
  const { bestBasket } = await server().discover(wanted);
  const offer = await server().build({ ...wanted, tokens: [bestBasket.tokens[0]!], slippageBps: 100 });
  const steps: Progress["step"][] = [];

  const sweep = await executeOffer(offer, page({ onProgress: ({ step }) => steps.push(step) }));

  assert.equal(sweep.status, "completed");
  assert.deepEqual(steps, ["send", "wait", "confirm"]);
  const newest = await server().history({ wallet }).next();
  assert.equal(newest.value?.sweepId, offer.sweepId);
  assert(sweep.ledger.entries.length > 0);
  for await (const entry of server().ledgerEntries({ wallet })) {
    assert.match(entry.amount, /^[0-9]+$/);
  }
});

test("a wallet without batches sends the approvals and the sweep", async () => {
  const steps: Progress["step"][] = [];
  const options = page({ provider: withoutBatches, onProgress: ({ step }) => steps.push(step) });
  const sweep = await executeOffer(await offerOf(tokens.script), options);
  assert.equal(sweep.status, "completed");
  assert.deepEqual(steps, ["approve", "send", "wait", "confirm"]);
});

test("what needs a signature is signed, finalized and sent", async () => {
  const offer = await offerOf(tokens.script);
  const { permit2, issues } = offer;
  const approvals = issues.allowance.map(({ transaction }) => transaction);
  const signed = { ...offer.executions[0]!, kind: "permit2", approvals, calls: null, typedData: [permit2] };
  const steps: Progress["step"][] = [];
  // The offer has no such execution, so nothing says how much gas it takes; wallets set the limit themselves.
  const estimating = walletWith({
    eth_sendTransaction: (params) => {
      const [{ to, data, value }] = params as [Record<string, string>];
      return provider.request({ method: "eth_sendTransaction", params: [{ from: wallet, to, data, value }] });
    },
  });
  const options = page({ provider: estimating, onProgress: ({ step }) => steps.push(step) });
  const sweep = await executeOffer({ ...offer, executions: [signed] }, options);
  assert.equal(sweep.status, "completed");
  assert.deepEqual(steps.slice(-4), ["sign", "send", "wait", "confirm"]);
});

test("a user who declines is told apart, and the offer can be withdrawn", async () => {
  const offer = await offerOf(tokens.script, "ready");
  const declining = walletWith({ wallet_sendCalls: refusing(4001) });
  await assert.rejects(executeOffer(offer, page({ provider: declining })), UserRejectedError);
  const sweep = await server().cancel(offer.sweepId, {});
  assert.equal(sweep.status, "void");
});

test("a batch that the wallet gives up is an error of the wallet", async () => {
  const offer = await offerOf(tokens.script, "ready");
  const givingUp = walletWith({
    wallet_sendCalls: () => ({ id: "0x1" }),
    wallet_getCallsStatus: () => ({ status: 400, receipts: [] }),
  });
  await assert.rejects(executeOffer(offer, page({ provider: givingUp })), WalletError);
});

test("a sweep that reverts on chain is answered as failed", async () => {
  const offer = await offerOf(tokens.revert);
  await server().api.POST("/v2/sandbox/advance", { body: { chain, blocks: 1, seconds: 700 } });
  const gas = String(2_000_000); // the node refuses to estimate what reverts
  const executions = offer.executions.map((one) => ({ ...one, transaction: one.transaction && { ...one.transaction, gas } }));
  const sweep = await executeOffer({ ...offer, executions }, page({ provider: withoutBatches }));
  assert.equal(sweep.status, "failed");
});

test("a stale offer is renewed under the same identity", async () => {
  const offer = await offerOf(tokens.script);
  const renewed = await server().refresh(offer.sweepId);
  assert.equal(renewed.sweepId, offer.sweepId);
});

test("a refusal has its code and what is wrong with each field", async () => {
  await assert.rejects(offerOf(tokens.no_route), (error) => {
    assert(error instanceof SweepApiError);
    assert(isRefusal(error, "tokens_refused"));
    assert.deepEqual(error.details.map(({ field, code }) => [field, code]), [["tokens[0].mint", "no_route"]]);
    assert.equal(error.retryable, false);
    return true;
  });
});

test("kinds of executions that are new are passed over", async () => {
  const offer = await offerOf(tokens.script, "ready");
  const [first] = offer.executions;
  const executions = [{ ...first!, kind: "by_carrier_pigeon" }, ...offer.executions] as typeof offer.executions;
  assert.equal(chooseExecution({ ...offer, executions }, "ready").kind, first!.kind);
});
