"""What a sweep is worth to its user: prices, impact, tax, gas, and the tokens to leave out.

Enters: quotes and gas. Leaves: economics for each token and for the sweep.
"""
