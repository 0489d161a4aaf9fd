"""The benchmark of webhooks: how many are delivered a second, how late, and whether one endpoint slows the others."""
