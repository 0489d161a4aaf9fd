// What the page says: amounts, and why tokens stay.
import type { Offer, Sweep, Token } from "./types.ts";

const SHOWN_DIGITS = 6;

/** An amount in whole tokens, with up to six digits that matter. */
export function amount(smallest: string, decimals: number): string {
  const digits = smallest.padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? "" : digits.slice(-decimals);
  const leading = whole === "0" ? fraction.length - fraction.replace(/^0+/, "").length : 0;
  const kept = Math.max(SHOWN_DIGITS - (whole === "0" ? 0 : whole.length), 2) + leading;
  const shown = fraction.slice(0, kept).replace(/0+$/, "");
  return BigInt(whole).toLocaleString("en") + (shown === "" ? "" : `.${shown}`);
}

/** A value in dollars; the reference is a stablecoin. */
export function dollars(value: string | null, decimals: number): string {
  if (value === null) {
    return "no known price";
  }
  const cents = (BigInt(value) * 100n) / 10n ** BigInt(decimals);
  const shown = (Number(cents) / 100).toLocaleString("en", { style: "currency", currency: "USD" });
  return cents === 0n && value !== "0" ? "under $0.01" : shown;
}

/** A token's symbol; what its contract chose to say is marked. */
export function symbol({ symbol: name = "?", untrusted }: Token): string {
  return untrusted ? `“${name}”, not verified` : name;
}

const STAYS: Record<string, string> = {
  no_route: "No exchange buys it.",
  unsellable: "Its contract does not let you sell it.",
  uneconomic: "It sells for less than the gas that it takes.",
  suspect: "Its name imitates another token.",
  broken: "It is not a working token.",
  price_impact_too_high: "So much of it would sell far below its price.",
  price_unknown: "Its price is not known.",
  basket_uneconomic: "All your tokens together do not pay for the gas.",
  too_many_tokens: "Others bring more, and one sweep takes only so many.",
  last_hop_uneconomic: "It takes a second exchange, which does not pay.",
  other_way: "It can't be approved in the same way as the others.",
};

/** Why a token stays in the wallet. */
export function whyItStays({ verdict, excludedBecause }: Token): string {
  return STAYS[excludedBecause ?? verdict] ?? "It can't be swept now.";
}

/** How often the wallet will ask, and for what. */
export function prompts({ executions }: Offer, kind: string): string {
  const count = executions.find((one) => one.kind === kind)?.prompts ?? 1;
  return count === 1 ? "Your wallet asks once." : `Your wallet asks ${count} times.`;
}

/** What the user was paid, by the chain. */
export function received({ feeAuthorization, outputSymbol, outputDecimals }: Sweep): string {
  return `${amount(feeAuthorization?.actualFees?.userAmount ?? "0", outputDecimals)} ${outputSymbol}`;
}
