"""Finding out why a transaction reverted, and saying it in words."""
