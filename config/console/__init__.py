"""The console's own process: settings, URLs and WSGI entry point that differ from those of the API.

Enters: the environment of that process, with secrets and a database role of its own. Leaves: an application that serves
the pages of operators and nothing of the API.
"""
