"""The errors of the local world; each message is a sentence for the person at the terminal."""


class LocalWorldError(Exception):
    """The local world cannot start or continue."""


class NotInstalledError(LocalWorldError):
    """A package or a build is missing; `make demo`, `make dev` and `make test` install and build everything."""


class WaitTimeoutError(LocalWorldError):
    """A condition did not become true before its deadline."""


class ChildExitedError(LocalWorldError):
    """A child process exited, and the supervisor had not stopped it."""


class FolderInUseError(LocalWorldError):
    """Another supervisor uses the state folder."""


class NodeError(LocalWorldError):
    """The node of the local chain did not answer, or answered with an error."""


class DatabaseError(LocalWorldError):
    """PostgreSQL could not be set up."""
