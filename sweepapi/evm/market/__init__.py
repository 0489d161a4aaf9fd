"""What a build reads of the market, in three round trips, and the routes that follow from it.

Enters: tokens and amounts of a wallet. Leaves: facts, quotes, and a route for each token.
"""
