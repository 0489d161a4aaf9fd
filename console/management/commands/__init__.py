"""The commands of the console, one a module."""
