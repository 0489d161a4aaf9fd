"""The errors of the Solana library, separate from those of the API, so that each caller decides what they mean."""


class SolanaError(Exception):
    """Reading or preparing something for a Solana cluster failed."""


class ClustersFileError(SolanaError):
    """The clusters file is malformed."""


class LegTooLargeError(SolanaError):
    """The leg at this position does not fit into a transaction, even alone."""

    def __init__(self, index: int) -> None:
        super().__init__(f"leg {index} does not fit into a transaction")
        self.index = index


class UnsafeSwapError(SolanaError):
    """A swap API's instructions would do more to the wallet than the sweep it was asked for; the text says what."""
