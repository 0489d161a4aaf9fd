"""The errors of the Solana library, separate from those of the API, so that each caller decides what they mean."""


class SolanaError(Exception):
    """Reading or preparing something for a Solana cluster failed."""


class ClustersFileError(SolanaError):
    """The clusters file is malformed."""
