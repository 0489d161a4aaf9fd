"""The errors of the Solana library, separate from those of the API, so that each caller decides what they mean."""

from collections.abc import Sequence


class SolanaError(Exception):
    """Reading or preparing something for a Solana cluster failed."""


class ClustersFileError(SolanaError):
    """The clusters file is malformed."""


class LegsTooLargeError(SolanaError):
    """The legs at these positions do not fit into a transaction, even alone."""

    def __init__(self, positions: Sequence[int]) -> None:
        super().__init__(f"the legs {positions} do not fit into a transaction")
        self.positions = positions


class UnsafeSwapError(SolanaError):
    """A swap API's instructions would do more to the wallet than the sweep it was asked for; the text says what."""
