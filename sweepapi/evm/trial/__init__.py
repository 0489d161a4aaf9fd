"""The sweep tried before anything is signed: simulated, its gas measured, its failure explained.

Enters: the legs of a sweep. Leaves: an outcome, gas, and the token that failed.
"""
