"""The sandbox through the real API: what it lets partners do to a chain, what not, and every outcome that it forces."""
