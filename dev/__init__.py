"""The local world: PostgreSQL, Redis, a chain and the service on one machine, for development, tests and the demo."""
