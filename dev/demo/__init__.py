"""The story of a sweep, told by a partner's client against the running service; every step is checked."""
