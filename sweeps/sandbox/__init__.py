"""The sandbox: partners move the clock of a test chain, and force outcomes on it with documented tokens and amounts.

Only the views of the sandbox import it: what builds, follows and books sweeps does not know that a chain is one.
"""
