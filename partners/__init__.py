"""Partners, the wallets that receive their fees, and their API keys."""
