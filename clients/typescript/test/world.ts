// The local world that the tests run against, and the wallet of its user; the variables are those of the quickstarts.
import { createWalletClient, http } from "viem";
import { createHandler, createSweepServer, type HandlerOptions, type ServerOptions } from "../src/server.ts";
import type { ExecuteOptions, Provider } from "../src/wallet.ts";

export const { baseUrl, apiKey, chain, wallet, outputToken } = {
  baseUrl: given("BASE_URL"),
  apiKey: given("API_KEY"),
  chain: given("CHAIN"),
  wallet: given("WALLET"),
  outputToken: given("OUTPUT_TOKEN"),
};
export const OTHER_WALLET = "0x00000000000000000000000000000000000000A1";
export const ORIGIN = "https://app.example.com";

/** A client of viem, which passes for a wallet as it is. */
export const provider: Provider = createWalletClient({ transport: http(given("WALLET_URL")) });

export function server(options: Partial<ServerOptions> = {}) {
  return createSweepServer({ baseUrl, apiKey, ...options });
}

export function handler(options: Partial<HandlerOptions> = {}) {
  return createHandler({ baseUrl, apiKey, prefix: "/api", user: () => ({ id: "7", wallets: [wallet] }), ...options });
}

/** How a page executes an offer: its requests go to a handler of the same process. */
export function page(options: Partial<ExecuteOptions> = {}): ExecuteOptions {
  const handle = handler();
  return {
    provider,
    wallet,
    backend: `${ORIGIN}/api`,
    pollMilliseconds: 50,
    fetch: (url, init) => handle(new Request(url, init)),
    ...options,
  };
}

/** Fills the user's wallet with the sandbox's tokens, and returns their addresses by name. */
export async function fund(): Promise<Record<string, string>> {
  const { api } = server();
  await api.POST("/v2/sandbox/fund", { body: { chain, wallet } });
  const { data } = await api.GET("/v2/sandbox");
  const tokens = data?.data.chains.find((one) => one.chain === chain)?.tokens ?? [];
  return Object.fromEntries(tokens.map(({ name, mint }) => [name, mint]));
}

/** Returns an offer for some of a token of the sandbox. */
export async function offerOf(mint: string | undefined, atomic?: "ready") {
  return server().build({
    chain,
    wallet,
    outputMint: outputToken,
    slippageBps: 100,
    tokens: [{ mint: mint ?? "", amount: `3${"0".repeat(18)}` }],
    acceptUneconomic: true,
    ...(atomic && { execution: { wallet: { atomic } } }),
  });
}

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set: see var/dev/world.env of make dev`);
  }
  return value;
}
