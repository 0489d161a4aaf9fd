"""Who may use the service: partners, where their fees are paid to, and the API keys that speak for them."""
