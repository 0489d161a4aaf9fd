"""Django's PostgreSQL backend, with deadlines: the ``ENGINE`` of the settings."""
