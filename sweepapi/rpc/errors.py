"""The errors of reading a network through its providers, for every family of networks."""


class RpcError(Exception):
    """Reading a network failed."""


class ChainUnavailableError(RpcError):
    """No provider of the network returned a usable response in time."""


class BadResponseError(RpcError):
    """A provider returned something that its method can't return."""


class BatchRefusedError(BadResponseError):
    """A provider did not answer all calls of a batch, which may be too large for it."""


class CallFailedError(RpcError):
    """The node returned an error that the caller accepts as a result (see ``ErrorPolicy``)."""
