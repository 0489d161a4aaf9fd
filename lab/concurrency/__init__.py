"""Mutation testing of the service's concurrency: removes one safeguard at a time and sees whether the races notice."""
