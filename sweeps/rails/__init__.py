"""Rails: the ways in which a sweep is carried out, each a package of its own behind the protocol in ``rail``."""
