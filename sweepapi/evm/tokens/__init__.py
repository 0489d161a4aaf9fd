"""Tokens as hostile contracts: what they say, how they transfer, whether their names deceive, which permits they take.

Enters: addresses and answers of tokens. Leaves: facts, arrivals, typed data of permits.
"""
