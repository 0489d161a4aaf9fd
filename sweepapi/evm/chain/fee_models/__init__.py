"""What chains charge for the data of transactions, in addition to the gas of calldata and code: one model per chain.

Enters: transactions before they are signed. Leaves: the calls that read what their data costs now, and that cost.
"""
