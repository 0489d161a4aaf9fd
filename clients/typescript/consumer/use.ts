// What a partner writes, compiled against the built package as a partner's compiler sees it.
import { createHandler, createSweepServer, isRefusal } from "@sweepapi/client/server";
import { executeOffer, type Offer, type Provider } from "@sweepapi/client/wallet";

const server = createSweepServer({ baseUrl: "https://api.example.com", apiKey: "swp_test_key" });

export const handle: (request: Request) => Promise<Response> = createHandler({
  baseUrl: "https://api.example.com",
  apiKey: "swp_test_key",
  user: () => ({ id: "7", wallets: ["0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF"] }),
});

export async function offer(wallet: string): Promise<Offer | null> {
  const wanted = { chain: "base", wallet, outputMint: "0x4200000000000000000000000000000000000006" };
  try {
    const { bestBasket } = await server.discover(wanted);
    return await server.build({ ...wanted, tokens: bestBasket.tokens, slippageBps: 100 });
  } catch (error) {
    if (isRefusal(error, "tokens_refused", "uneconomic")) {
      return null;
    }
    throw error;
  }
}

export async function sweep(offer: Offer, wallet: string, provider: Provider): Promise<string> {
  const { status } = await executeOffer(offer, { provider, wallet, backend: "/api/sweeps" });
  // @ts-expect-error: no such status
  return status === "perhaps" ? "" : status;
}
