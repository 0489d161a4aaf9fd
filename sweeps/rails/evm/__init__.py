"""The code that EVM rails share: reading the market, routes and legs, Permit2, answers, and following receipts."""
