"""The demo: sweeps from build to ledger, made by a partner's client against the running service and checked."""
