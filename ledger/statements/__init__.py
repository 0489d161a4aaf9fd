"""What a partner earned and was paid in one month, per asset: as values, as CSV, and as a page to print.

A statement is about what the platform owes: opening + accrued - reversed - paid = closing. What sweeps settled on chain
was never owed; it is shown beside these and is not part of any balance. An entry belongs to the month in which it was
numbered, seconds after it was posted, so no entry is added to a month that is over. Amounts are in the asset's smallest
unit.
"""
