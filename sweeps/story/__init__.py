"""What happens to a sweep: built, confirmed, settled, withdrawn, opened again; its receipt when it is final.

Enters: requests, and what rails read of the chain. Leaves: changed rows, journal entries, and answers. Owns no tables.
"""
