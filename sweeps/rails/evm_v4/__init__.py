"""The V4 rail, the fallback: the user signs the outcome, the contract takes one fee, and the partner is paid later."""
