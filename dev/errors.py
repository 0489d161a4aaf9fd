"""What can go wrong in the local world; the message of each is a sentence for the person at the terminal."""


class LocalWorldError(Exception):
    """Something the local world needs is not there or does not hold."""


class NotInstalledError(LocalWorldError):
    """A package or a build is missing; `make demo`, `make dev` and `make test` bring them."""


class WaitedTooLongError(LocalWorldError):
    """A condition did not come true before its deadline."""


class ChildDiedError(LocalWorldError):
    """A part of the local world ended although nobody stopped it."""


class FolderInUseError(LocalWorldError):
    """Another supervisor is at work in the state folder."""


class NodeError(LocalWorldError):
    """The node of the local chain did not answer, or answered with an error."""


class EngineError(LocalWorldError):
    """An engine could not be set up."""
