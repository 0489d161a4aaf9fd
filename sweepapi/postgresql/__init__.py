"""The database engine of the web process, named in the settings; see ``base``."""
