"""What the rails on EVM chains share: reading the market, routes and legs, Permit2, answers and following receipts."""
