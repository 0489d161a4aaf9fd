"""The errors of the chain library, separate from those of the API, so that each caller decides what they mean."""


class EvmError(Exception):
    """Reading or preparing something for an EVM chain failed."""


class ChainsFileError(EvmError):
    """The chains file is malformed."""


class FeeSignerSettingsError(EvmError):
    """No fee signer can be made from the settings; the message names a variable and never shows a value."""


class FeeSignerUnavailableError(EvmError):
    """A remote fee signer returned no signature of its account in time."""


class SpecificationError(EvmError):
    """The chains file lacks something that a deployment needs."""


class BuildError(EvmError):
    """The contracts' build is missing or differs from the committed record."""


class DeploymentError(EvmError):
    """A deployment can't continue; what it did so far remains, and the next run continues from there."""


class FinalBlockReplacedError(EvmError):
    """The providers agree that a final block, up to which a contract was read, is no longer on the chain."""
