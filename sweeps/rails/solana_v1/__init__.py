"""The V1 rail on Solana: the user signs transactions composed of a swap API's instructions; partners are paid later."""
