// What the page looks like at each step, and how it says to those who do not see it what has changed.
import type { Progress } from "@sweepapi/client/wallet";
import { html, nothing, render, type TemplateResult } from "lit-html";
import type { Discovered, Offer, Sweep, Token } from "./types.ts";
import type { Wallet } from "./wallets.ts";
import { amount, dollars, prompts, received, symbol, whyItStays } from "./words.ts";

export type Screen =
  | { name: "connect"; wallets: Wallet[]; connect: (wallet: Wallet) => void }
  | { name: "busy"; doing: string }
  | { name: "choose"; found: Discovered; best: ReadonlySet<string>; review: (mints: ReadonlySet<string>) => void; again: () => void }
  | { name: "review"; offer: Offer; note: string | null; kind: string; sweep: () => void; back: () => void }
  | { name: "progress"; steps: readonly string[]; current: number }
  | { name: "result"; sweep: Sweep; explorer: string; receipt: string | null; again: () => void }
  | { name: "problem"; title: string; details: string; again: () => void };

const page = document.getElementById("page")!;
const news = document.getElementById("news")!;
let shows = 0;

/** Shows a screen; the function that it returns tells whether that is still shown. */
export function show(screen: Screen): () => boolean {
  const number = ++shows;
  page.dataset["screen"] = screen.name;
  render(drawn(screen), page);
  news.textContent = page.querySelector("h2")?.textContent ?? "";
  return () => number === shows;
}

/** Returns a function that shows each step of an execution as it comes. */
export function progressOf(kind: string): (progress: Progress) => void {
  const steps = kind === "calls" ? ["Confirm in your wallet"] : ["Approve each token in your wallet", "Confirm the sweep in your wallet"];
  const all = [...steps, "Wait for a block", "Check what was paid"];
  return (progress) => {
    const named = [...all];
    if (progress.step === "approve" || progress.step === "sign") {
      named[0] = `${progress.step === "approve" ? "Approve" : "Sign for"} token ${progress.number} of ${progress.of} in your wallet`;
    }
    const current = { approve: 0, sign: 0, send: all.length - 3, wait: all.length - 2, confirm: all.length - 1 }[progress.step];
    show({ name: "progress", steps: named, current });
  };
}

function drawn(screen: Screen): TemplateResult {
  switch (screen.name) {
    case "connect":
      return connecting(screen);
    case "busy":
      return html`<h2>${screen.doing}…</h2><div class="bar" aria-hidden="true"></div>`;
    case "choose":
      return choosing(screen);
    case "review":
      return reviewing(screen);
    case "progress":
      return progressing(screen);
    case "result":
      return ending(screen);
    case "problem":
      return html`<h2>${screen.title}</h2><p>${screen.details}</p>
        <button class="main" @click=${screen.again}>Try again</button>`;
  }
}

function connecting({ wallets, connect }: Screen & { name: "connect" }): TemplateResult {
  return html`<h2>Connect your wallet</h2>
    <p>See which of your tokens are worth selling, and turn them into one.</p>
    ${wallets.length === 0 ? html`<p class="note">No wallet was found in this browser.</p>` : nothing}
    <ul class="wallets">
      ${wallets.map((wallet) => html`<li><button @click=${() => connect(wallet)}><img src=${wallet.icon} alt="" />${wallet.name}</button></li>`)}
    </ul>`;
}

function choosing({ found, best, review, again }: Screen & { name: "choose" }): TemplateResult {
  const sold = found.tokens.filter(({ mint }) => best.has(mint));
  const kept = found.tokens.filter(({ mint }) => !best.has(mint));
  const decimals = found.reference?.decimals ?? 0;
  const { economics } = found.bestBasket;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const mints = new Set(new FormData(form).getAll("token") as string[]);
    if (mints.size > 0) {
      review(mints);
    } else {
      form.querySelector("[role=alert]")!.textContent = "Choose at least one token.";
    }
  };
  if (sold.length === 0) {
    return html`<h2>Nothing to sweep</h2><p>None of your tokens brings more than it costs to sell it.</p>
      ${staying(kept)}<button @click=${again}>Look again</button>`;
  }
  return html`<h2>${sold.length} ${sold.length === 1 ? "token is" : "tokens are"} worth sweeping</h2>
    <p>Into ${found.output.symbol}: ${dollars(economics?.netValue ?? null, decimals)} after everything it costs.</p>
    <form @submit=${submit}>
      <fieldset>
        <legend class="visually-hidden">Tokens to sweep</legend>
        <ul class="tokens">
          ${sold.map(
            (token) => html`<li><label>
              <input type="checkbox" name="token" value=${token.mint} checked />
              <span class="symbol">${symbol(token)}</span>
              <span class="amount">${amount(token.amount ?? "0", token.decimals ?? 0)}</span>
              <span class="value">${dollars(token.value, decimals)}</span>
            </label></li>`,
          )}
        </ul>
      </fieldset>
      <p class="note" role="alert"></p>
      <button class="main">See the offer</button>
    </form>
    ${staying(kept)}`;
}

function staying(tokens: readonly Token[]): TemplateResult | typeof nothing {
  return tokens.length === 0
    ? nothing
    : html`<details>
        <summary>${tokens.length} ${tokens.length === 1 ? "token stays" : "tokens stay"} in your wallet</summary>
        <ul class="kept">
          ${tokens.map((token) => html`<li><span class="symbol">${symbol(token)}</span> ${whyItStays(token)}</li>`)}
        </ul>
      </details>`;
}

function reviewing({ offer, note, kind, sweep, back }: Screen & { name: "review" }): TemplateResult {
  const { estimatedOutput: output, economics, feeSummary, skippedTokens } = offer;
  const shown = (smallest: string) => `${amount(smallest, output.decimals)} ${output.symbol}`;
  const reference = economics.reference?.decimals ?? 0;
  return html`<h2>You receive about ${shown(output.user)}</h2>
    ${note === null ? nothing : html`<p class="note">${note}</p>`}
    <dl>
      <div><dt>${offer.maxSkipped > 0 ? "At least, if a token stays" : "At least"}</dt><dd>${shown(output.minUser)}</dd></div>
      <div><dt>For</dt><dd>${offer.tokens.map((token) => token.symbol).join(", ")}</dd></div>
      <div><dt>Fee, included</dt><dd>${shown(feeSummary.totalFee)}</dd></div>
      <div><dt>Gas</dt><dd>${dollars(economics.gasValue, reference)}</dd></div>
      <div><dt>Leaves you</dt><dd>${dollars(economics.netValue, reference)}</dd></div>
    </dl>
    ${skippedTokens.length === 0
      ? nothing
      : html`<p class="note">${skippedTokens.length} ${skippedTokens.length === 1 ? "token is" : "tokens are"} left out, and ${skippedTokens.length === 1 ? "stays" : "stay"} in your wallet.</p>`}
    <p>${prompts(offer, kind)}
      ${offer.maxSkipped > 0 ? "If the price of a token falls meanwhile, it stays in your wallet, and you receive less." : nothing}</p>
    <button class="main" @click=${sweep}>Sweep</button>
    <button @click=${back}>Not now</button>`;
}

function progressing({ steps, current }: Screen & { name: "progress" }): TemplateResult {
  return html`<h2>${steps[current]}</h2>
    <ol class="steps">
      ${steps.map((step, index) => {
        const state = index < current ? "done" : index === current ? "current" : "next";
        return html`<li class=${state} aria-current=${index === current ? "step" : nothing}>${step}</li>`;
      })}
    </ol>`;
}

function ending({ sweep, explorer, receipt, again }: Screen & { name: "result" }): TemplateResult {
  const txHash = sweep.transaction?.txHash;
  const link = explorer && txHash ? html`<a href="${explorer}/tx/${txHash}" rel="noreferrer">See it in the explorer</a>` : html`<code>${txHash}</code>`;
  const skipped = sweep.tokens.filter(({ outcome }) => outcome === "skipped").map((token) => token.symbol);
  const details =
    sweep.status === "completed"
      ? html`${skipped.length === 0 ? nothing : html`<p class="note">${skipped.join(", ")} stayed in your wallet: the price had fallen.</p>`}
          ${receipt === null
            ? html`<p>A receipt is signed once no reorganisation can undo it. This page keeps looking.</p>`
            : html`<p><a href=${receipt} download="receipt.json">Download your receipt</a></p>`}`
      : html`<p>${sweep.transaction?.reason || (sweep.status === "pending" ? "What you sent is not in a block yet." : "Nothing was taken.")}</p>`;
  return html`<h2>${outcome(sweep)}</h2>
    ${details}
    <p>${link}</p>
    ${sweep.status === "pending" ? nothing : html`<button @click=${again}>Look through my wallet</button>`}`;
}

function outcome(sweep: Sweep): string {
  const outcomes: Record<string, string> = {
    completed: `You received ${received(sweep)}`,
    pending: "Waiting for the chain",
    failed: "The sweep failed, and nothing was taken",
    expired: "The offer ended before it was sent",
    void: "The offer was withdrawn",
  };
  return outcomes[sweep.status] ?? sweep.status;
}
