// What all of these clients ask for.
export const BASE_URL = "https://api.example.com";
export const KEY = "swp_test_key";
export const REQUEST = {
  chain: "base",
  wallet: "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF",
  tokens: [{ mint: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", amount: "25000000" }],
  outputMint: "0x4200000000000000000000000000000000000006",
  slippageBps: 50,
};
