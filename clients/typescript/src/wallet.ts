// For a page: has the user's wallet execute an offer that your back end built, and reports what was sent. It holds no key.
import type { components } from "./generated/api.ts";
import { createBackend, type BackendOptions } from "./backend.ts";
import { NoAnswerError, SweepApiError, isRefusal } from "./errors.ts";
import { wait } from "./waiting.ts";

export { createBackend, type BackendOptions } from "./backend.ts";
export { executeSolanaOffer, type SolanaExecuteOptions, type SolanaOffer, type SolanaSweep } from "./solana.ts";

export { isRefusal, NoAnswerError, SweepApiError };

type Schemas = components["schemas"];
export type Offer = Schemas["BuiltSweep"];
export type Sweep = Schemas["SweepState"];
type Execution = Offer["executions"][number];
type Call = { to: string; data: string; value: string; gas?: string };
type CallsStatus = { status: number };

/** The wallet, as a page has it (EIP-1193); a client of viem is one as well. */
export interface Provider {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each wallet library types its own methods
  request(asked: { method: any; params?: any }): Promise<unknown>;
}

/** What goes on now, for the page to show. */
export type Progress =
  | { step: "approve" | "sign"; number: number; of: number }
  | { step: "send" }
  | { step: "wait"; txHash: string | null }
  | { step: "confirm" };

export interface ExecuteOptions extends BackendOptions {
  provider: Provider;
  /** The user's address, for which the offer was built. */
  wallet: string;
  onProgress?: (progress: Progress) => void;
  /** How long to wait between looks at the chain and at the sweep; 1,000 unless it is said. */
  pollMilliseconds?: number;
}

/** The user declined in the wallet; nothing was sent after that. */
export class UserRejectedError extends Error {
  override readonly name = "UserRejectedError";
}

/** The wallet can do nothing of what the offer takes, or failed at it. */
export class WalletError extends Error {
  override readonly name = "WalletError";
}

const USER_REJECTED = 4001;
const ATOMIC: readonly Atomic[] = ["supported", "ready", "unsupported"];
const ONE_TRANSACTION = new Set(["permits", "permit2", "transactions"]);

export type Atomic = Schemas["WalletAtomic"];

/** Returns what the wallet says it can do on a chain, for `execution.wallet.atomic` of a build; null if it does not say. */
export async function atomicOf(provider: Provider, wallet: string, chainId: number): Promise<Atomic | null> {
  const key = `0x${chainId.toString(16)}`;
  try {
    const said = (await provider.request({ method: "wallet_getCapabilities", params: [wallet, [key]] })) as Record<
      string,
      { atomic?: { status?: string } } | undefined
    >;
    const status = said[key]?.atomic?.status;
    return ATOMIC.find((known) => known === status) ?? null;
  } catch {
    return null; // older wallets do not know the method
  }
}

/** Returns the first execution of an offer that a wallet can carry out; kinds that are new are passed over. */
export function chooseExecution(offer: Offer, atomic: Atomic | null): Execution {
  const batches = atomic === "supported" || atomic === "ready";
  const found = offer.executions.find(({ kind }) => (kind === "calls" ? batches : ONE_TRANSACTION.has(kind)));
  if (found === undefined) {
    throw new WalletError("the wallet can carry out none of the offer's executions");
  }
  return found;
}

/**
 * Has the wallet send an offer, reports it, and returns the sweep once it is decided.
 *
 * Throws `UserRejectedError`, `WalletError`, `SweepApiError` and `NoAnswerError`, or the reason of the signal.
 */
export async function executeOffer(offer: Offer, options: ExecuteOptions): Promise<Sweep> {
  const { provider, wallet: from, onProgress = () => {}, signal, pollMilliseconds = 1000 } = options;
  const backend = createBackend(options);
  const execution = chooseExecution(offer, await atomicOf(provider, from, offer.chainId));
  return decided(await reported());

  async function reported(): Promise<Sweep> {
    if (execution.calls !== null) {
      onProgress({ step: "send" });
      const { id } = (await ask("wallet_sendCalls", execution.calls)) as { id: string };
      onProgress({ step: "wait", txHash: null });
      const callsStatus = (await polled("wallet_getCallsStatus", id, isOver)) as CallsStatus;
      if (callsStatus.status >= 400 && callsStatus.status < 500) {
        throw new WalletError("the wallet gave the batch up before it was in a block"); // so there is nothing to report
      }
      return confirm({ callsStatus });
    }
    for (const [index, approval] of execution.approvals.entries()) {
      onProgress({ step: "approve", number: index + 1, of: execution.approvals.length });
      await mined(await send(approval));
    }
    const transaction = await signed();
    onProgress({ step: "send" });
    const txHash = await send(transaction);
    onProgress({ step: "wait", txHash });
    await mined(txHash);
    return confirm({ txHash });
  }

  async function signed(): Promise<Call> {
    const signatures: string[] = [];
    for (const [index, typedData] of execution.typedData.entries()) {
      onProgress({ step: "sign", number: index + 1, of: execution.typedData.length });
      signatures.push((await ask("eth_signTypedData_v4", from, JSON.stringify(typedData))) as string);
    }
    if (signatures.length === 0) {
      return execution.transaction as Call;
    }
    const kind = execution.kind as Schemas["FinalizeRequest"]["execution"]; // chosen from those that are known
    const { transaction } = await backend.finalize(offer.sweepId, { execution: kind, signatures });
    return transaction;
  }

  async function confirm(body: object): Promise<Sweep> {
    onProgress({ step: "confirm" });
    try {
      return await backend.confirm(offer.sweepId, body);
    } catch (error) {
      if (isRefusal(error, "transaction_reverted")) {
        return backend.sweep(offer.sweepId); // which says why
      }
      throw error;
    }
  }

  async function decided(sweep: Sweep): Promise<Sweep> {
    while (sweep.status === "pending") {
      await wait(pollMilliseconds, signal);
      sweep = await backend.sweep(offer.sweepId);
    }
    return sweep;
  }

  async function send({ to, data, value, gas }: Call): Promise<string> {
    const limit = gas === undefined ? {} : { gas: hex(gas) };
    return (await ask("eth_sendTransaction", { from, to, data, value: hex(value), ...limit })) as string;
  }

  function mined(txHash: string): Promise<unknown> {
    return polled("eth_getTransactionReceipt", txHash, (receipt) => receipt !== null);
  }

  async function polled(method: string, param: string, isDone: (said: unknown) => boolean): Promise<unknown> {
    for (;;) {
      const said = await ask(method, param);
      if (isDone(said)) {
        return said;
      }
      await wait(pollMilliseconds, signal);
    }
  }

  async function ask(method: string, ...params: unknown[]): Promise<unknown> {
    signal?.throwIfAborted();
    try {
      return await provider.request({ method, params });
    } catch (error) {
      throw walletError(error);
    }
  }
}

function isOver(said: unknown): boolean {
  return (said as CallsStatus).status >= 200;
}

function hex(decimal: string): string {
  return `0x${BigInt(decimal).toString(16)}`;
}

function walletError(error: unknown): Error {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (code === USER_REJECTED) {
    return new UserRejectedError("the user declined in the wallet", { cause: error });
  }
  return new WalletError(typeof message === "string" ? message : "the wallet failed", { cause: error });
}

