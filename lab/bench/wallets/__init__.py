"""Whether what the service says of money is what wallets of small balances have: ``make lab-bench SECTION=wallets``."""
