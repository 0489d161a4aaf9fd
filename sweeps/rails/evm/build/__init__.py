"""A build on an EVM chain: from a request to a signed offer, its prompts, issues and warnings.

Enters: a request and the market. Leaves: a planned sweep, an offer and its stored legs. Owns the table of legs.
"""
