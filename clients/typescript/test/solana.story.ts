// A sweep on Solana, signed with a key and sent to a node as pages do it.
import assert from "node:assert/strict";
import { createPrivateKey, sign as ed25519 } from "node:crypto";
import { test } from "node:test";
import { executeSolanaOffer } from "../src/wallet.ts";
import { handler, ORIGIN, server } from "./world.ts";

const { SOLANA_WALLET = "", SOLANA_SEED = "", SOLANA_RPC_URL = "", SOLANA_TOKEN = "", SOLANA_OUTPUT = "" } = process.env;
const SIGNATURE_BYTES = 64;
const PKCS8_OF_A_SEED = Buffer.from("302e020100300506032b657004220420", "hex");

/** Signs as a wallet does: the first signature of a transaction is the wallet's. */
function sign(transactions: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const der = Buffer.concat([PKCS8_OF_A_SEED, Buffer.from(SOLANA_SEED, "hex")]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const signed = transactions.map((transaction) => {
    const message = transaction.slice(1 + SIGNATURE_BYTES);
    return Buffer.concat([Buffer.from([1]), ed25519(null, message, key), message]);
  });
  return Promise.resolve(signed);
}

async function send(transaction: string): Promise<unknown> {
  const params = [transaction, { encoding: "base64" }];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "sendTransaction", params });
  const response = await fetch(SOLANA_RPC_URL, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const { error, result } = (await response.json()) as { error?: { message: string }; result?: string };
  assert.equal(error, undefined);
  return result;
}

test("an offer on Solana is signed, sent, and found on chain", async () => {
  const wanted = { wallet: SOLANA_WALLET, outputMint: SOLANA_OUTPUT };
  const found = await server().solana.discover(wanted);
  assert.deepEqual(found.tokens.map(({ mint }) => mint), [SOLANA_TOKEN]);
  const tokens = found.bestBasket.tokens.map(({ mint, amount }) => ({ mint, amount }));
  const offer = await server().solana.build({ ...wanted, tokens, slippageBps: 100 });

  const handle = handler({ user: () => ({ id: "7", wallets: [SOLANA_WALLET] }) });
  const sweep = await executeSolanaOffer(offer, {
    sign,
    send,
    backend: `${ORIGIN}/api`,
    pollMilliseconds: 50,
    fetch: (url, init) => handle(new Request(url, init)),
  });

  assert.equal(sweep.status, "completed");
});
