// The page: what goes on between a user who connects a wallet and one token instead of many.
import {
  atomicOf,
  chooseExecution,
  createBackend,
  executeOffer,
  isRefusal,
  NoAnswerError,
  SweepApiError,
  UserRejectedError,
  WalletError,
  type Atomic,
  type Progress,
} from "@sweepapi/client/wallet";
import { progressOf, show } from "./screens.ts";
import type { Chain, Offer, Sweep } from "./types.ts";
import { connect, watchWallets, type Wallet } from "./wallets.ts";

const BACKEND = "/api/sweeps";
const SLIPPAGE_BPS = 100;
const LEAST_SECONDS = 30; // an offer that ends sooner is not signed any more
const FRESH_MILLISECONDS = 60_000; // after which prices are looked up again
const LEAST_PER_MILLE = 995n; // of what was shown, below which it is shown again
const LOOK_MILLISECONDS = 1000;
const LAST_SWEEP = "last-sweep";

const backend = createBackend({ backend: BACKEND });

interface User {
  wallet: Wallet;
  address: string;
  chain: Chain;
  outputMint: string;
  atomic: Atomic | null;
}

type Chosen = readonly { mint: string; amount: string }[];

function start(): void {
  let isWaiting = true;
  watchWallets((wallets) => {
    if (isWaiting) {
      show({ name: "connect", wallets, connect: enter });
    }
  });
  show({ name: "connect", wallets: [], connect: enter });

  function enter(wallet: Wallet): void {
    isWaiting = false;
    attempt("Waiting for your wallet", start, async () => {
      const { chain, outputToken } = (await (await fetch("/api/settings")).json()) as { chain: Chain; outputToken: string };
      const address = await connect(wallet, chain.chainId);
      const body = JSON.stringify({ wallet: address });
      await fetch("/api/login", { method: "POST", headers: { "Content-Type": "application/json" }, body });
      const atomic = await atomicOf(wallet.provider, address, chain.chainId);
      const user = { wallet, address, chain, outputMint: outputToken, atomic };
      if (!(await resumed(user))) {
        await discover(user);
      }
    });
  }
}

/** Shows the sweep that was sent before the page was closed, if it is this user's and not final. */
async function resumed(user: User): Promise<boolean> {
  const sweepId = localStorage.getItem(LAST_SWEEP);
  if (sweepId === null) {
    return false;
  }
  try {
    const sweep = await backend.sweep(sweepId);
    if (sweep.open) {
      void follow(user, sweep);
    }
    return sweep.open;
  } catch (error) {
    if (isRefusal(error)) {
      return false; // another wallet's
    }
    throw error;
  }
}

async function discover(user: User): Promise<void> {
  const found = await backend.discover(basics(user));
  const best = new Set(found.bestBasket.tokens.map(({ mint }) => mint));
  show({
    name: "choose",
    found,
    best,
    review: (mints) => {
      const tokens = found.tokens.flatMap(({ mint, amount }) => (mints.has(mint) && amount ? [{ mint, amount }] : []));
      attempt("Looking for the best prices", () => retry(user), () => build(user, tokens, null));
    },
    again: () => retry(user),
  });
}

function retry(user: User): void {
  attempt("Looking through your wallet", start, () => discover(user));
}

async function build(user: User, tokens: Chosen, note: string | null): Promise<void> {
  // One token whose price falls meanwhile may stay, instead of the whole sweep failing.
  const skipping = tokens.length > 1 ? { onLegFailure: "skip" as const, maxSkipped: 1 } : {};
  const offer = await backend.build({ ...basics(user), tokens: [...tokens], slippageBps: SLIPPAGE_BPS, onUnroutable: "skip", ...skipping });
  review(user, offer, tokens, note);
}

function basics({ chain, address, outputMint, atomic }: User) {
  return { chain: chain.name, wallet: address, outputMint, ...(atomic && { execution: { wallet: { atomic } } }) };
}

/** Shows an offer; a note says what has changed since the last one. */
function review(user: User, offer: Offer, tokens: Chosen, note: string | null): void {
  const shownAt = performance.now();
  show({
    name: "review",
    offer,
    note,
    kind: chooseExecution(offer, user.atomic).kind,
    sweep: () => {
      attempt("Checking the prices", () => retry(user), async () => {
        if ((await secondsLeft(offer)) < LEAST_SECONDS) {
          await build(user, tokens, "The offer had ended. This is a new one.");
          return;
        }
        if (performance.now() - shownAt < FRESH_MILLISECONDS) {
          await sweep(user, offer);
        } else {
          await sweepAtCurrentPrices(user, offer, tokens);
        }
      });
    },
    back: () => {
      attempt("Looking through your wallet", start, async () => {
        await backend.cancel(offer.sweepId);
        await discover(user);
      });
    },
  });
}

/** Looks the prices up again, and shows the offer again if the user would receive noticeably less. */
async function sweepAtCurrentPrices(user: User, offer: Offer, tokens: Chosen): Promise<void> {
  const note = "Prices have moved. This is what you receive now.";
  try {
    const current = await backend.refresh(offer.sweepId);
    if (current.issues.balance.length > 0) {
      await discover(user); // some of it is gone
    } else if (BigInt(current.estimatedOutput.user) * 1000n < BigInt(offer.estimatedOutput.user) * LEAST_PER_MILLE) {
      review(user, current, tokens, note);
    } else {
      await sweep(user, current);
    }
  } catch (error) {
    if (!isRefusal(error, "new_build_required")) {
      throw error;
    }
    await build(user, tokens, note); // less than the minimum of the old one
  }
}

/** By the chain's clock, or by that of this device as long as the chain's is not known. */
async function secondsLeft({ sweepId, expiresAt }: Offer): Promise<number> {
  const { expiresInSeconds } = await backend.sweep(sweepId);
  return expiresInSeconds ?? (Date.parse(expiresAt) - Date.now()) / 1000;
}

async function sweep(user: User, offer: Offer): Promise<void> {
  const { provider } = user.wallet;
  const showProgress = progressOf(chooseExecution(offer, user.atomic).kind);
  const onProgress = (progress: Progress) => {
    if (progress.step === "wait") {
      localStorage.setItem(LAST_SWEEP, offer.sweepId); // from now on it may succeed without this page
    }
    showProgress(progress);
  };
  const ended = await executeOffer(offer, { provider, wallet: user.address, backend: BACKEND, onProgress });
  void follow(user, ended);
}

/** Shows how a sweep ended, until nothing can change that and its receipt is there. */
async function follow(user: User, ended: Sweep): Promise<void> {
  const shown = { name: "result", explorer: user.chain.blockExplorerUrl, again: () => retry(user) } as const;
  let isShown = show({ ...shown, sweep: ended, receipt: null });
  for (let sweep = ended, receipt = null; isShown() && (sweep.open || (sweep.status === "completed" && receipt === null)); ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
    try {
      const now = await backend.sweep(ended.sweepId);
      receipt = now.status === "completed" && !now.open ? await receiptOf(now) : null;
      if (isShown() && (now.status !== sweep.status || receipt !== null)) {
        isShown = show({ ...shown, sweep: now, receipt });
      }
      sweep = now;
    } catch (error) {
      if (!(error instanceof NoAnswerError || error instanceof SweepApiError)) {
        throw error;
      } // it is asked again
    }
  }
}

/** Returns a link to the receipt; null while it is not signed yet. */
async function receiptOf({ sweepId }: Sweep): Promise<string | null> {
  try {
    const receipt = await backend.receipt(sweepId);
    return URL.createObjectURL(new Blob([JSON.stringify(receipt, null, 2)], { type: "application/json" }));
  } catch (error) {
    if (isRefusal(error, "receipt_not_ready")) {
      return null;
    }
    throw error;
  }
}

/** Does something that takes a while; what goes wrong is shown, with a way on. */
function attempt(doing: string, again: () => void, action: () => Promise<void>): void {
  show({ name: "busy", doing });
  action().catch((error: unknown) => {
    show({ name: "problem", ...explained(error), again });
  });
}

function explained(error: unknown): { title: string; details: string } {
  if (error instanceof UserRejectedError) {
    return { title: "You declined", details: "Nothing was taken. You can sweep whenever you like." };
  }
  if (error instanceof WalletError) {
    return { title: "Your wallet could not do it", details: error.message };
  }
  if (isRefusal(error, "uneconomic")) {
    return { title: "Not worth it now", details: "The sweep would cost more than it brings. Try again when gas is cheaper." };
  }
  if (isRefusal(error, "sweep_expired", "sweep_void", "sweep_failed", "new_build_required")) {
    return { title: "The offer has ended", details: "Nothing was taken. Get a new one." };
  }
  if (error instanceof SweepApiError) {
    return { title: "That did not work", details: error.message };
  }
  if (error instanceof NoAnswerError) {
    return { title: "No connection", details: "What you sent is found anyway. Try again in a moment." };
  }
  throw error;
}

start();
