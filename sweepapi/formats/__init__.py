"""How the admin writes values, by language (``FORMAT_MODULE_PATH``)."""
