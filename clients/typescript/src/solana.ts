// The same on Solana: the wallet signs an offer's transactions, they are sent, and the service finds them on chain.
import { createBackend, type BackendOptions } from "./backend.ts";
import type { components } from "./generated/api.ts";
import { wait } from "./waiting.ts";

type Schemas = components["schemas"];
export type SolanaOffer = Schemas["BuiltSolanaSweep"];
export type SolanaSweep = Schemas["OffchainSweepState"];

export interface SolanaExecuteOptions extends BackendOptions {
  /** Has the wallet sign all transactions, with one prompt if it can: `signTransaction` of the Wallet Standard. */
  sign: (transactions: readonly Uint8Array[]) => Promise<readonly Uint8Array[]>;
  /** Sends a signed transaction to a node, as base64: `sendTransaction` with `encoding: "base64"`; kit's sends bytes in that form. */
  send: (transaction: string) => Promise<unknown>;
  /** How long to wait between looks at the sweep; 1,000 unless it is said. */
  pollMilliseconds?: number;
}

/** Has the wallet sign and sends an offer's transactions; returns the sweep once it is known what landed. */
export async function executeSolanaOffer(offer: SolanaOffer, options: SolanaExecuteOptions): Promise<SolanaSweep> {
  const { sign, send, signal, pollMilliseconds = 1000 } = options;
  const { solana } = createBackend(options);
  const unsigned = offer.transactions.map(({ transaction }) => Uint8Array.from(atob(transaction), code));
  signal?.throwIfAborted();
  const signed = await sign(unsigned);
  // Each may land without the others, so one that a node refuses does not keep the others from being sent.
  const sent = await Promise.allSettled(signed.map((transaction) => send(base64(transaction))));
  const refused = sent.filter((one) => one.status === "rejected");
  if (refused.length === sent.length) {
    throw new AggregateError(refused.map(({ reason }) => reason as unknown), "no transaction was taken by the node");
  }
  for (;;) {
    const sweep = await solana.sweep(offer.sweepId);
    if (sweep.status !== "pending") {
      return sweep;
    }
    await wait(pollMilliseconds, signal);
  }
}

function code(character: string): number {
  return character.charCodeAt(0);
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
