"""What a rail owes the rest of the service: its protocol, and the words in which both speak. Owns no tables.

Enters: requests, and what a rail read of the chain. Leaves: plain values that every rail and every caller share.
"""
