"""Rails: the ways to execute a sweep, each a package of its own behind the protocol in ``rail``."""
