"""The errors of the chain library, apart from those of the API, so that each caller decides what they mean to it."""


class EvmError(Exception):
    """Reading or preparing something for an EVM chain failed."""


class ChainsFileError(EvmError):
    """The chains file contradicts its format."""


class ChainUnavailableError(EvmError):
    """No provider of the chain gave a usable answer in time."""


class BadAnswerError(EvmError):
    """A provider answered something that its method can't answer."""


class CallFailedError(EvmError):
    """The node answered the call with an error, where the caller said that this is an answer."""


class SpecificationError(EvmError):
    """The chains file does not say all that a deployment needs."""


class BuildError(EvmError):
    """The contracts' build is missing or is not the one on record."""


class DeploymentError(EvmError):
    """A deployment can't go on; what it did so far stands, and running it again goes on from there."""
