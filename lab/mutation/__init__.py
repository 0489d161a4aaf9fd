"""Mutation testing of the contracts: each mutant is a small fault in their sources that the tests should detect."""
