"""Engines and processes that are away for a while: how soon the service works again, and that it loses nothing."""
