"""What the local cluster knows of accounts and transactions: balances, blocks, outcomes and records."""
