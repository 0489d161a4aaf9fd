"""What sweeps are worth, on every network: values for people, losses against mid prices, and what is left out for them.

Enters: outputs, costs and prices that a family computed. Leaves: figures, sentences and reasons. Does no I/O.
"""
