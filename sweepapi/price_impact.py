"""What partners read about a price impact, in the same words on every network."""

PRICE_IMPACT = "The price impact is {} basis points."
