"""Says what statuses, entries and balances must be, from the chain and the driver's journal alone, and compares.

It shares no code with the service: it decodes events by itself, and reads the service's books by plain SQL and by the
partner's API.
"""
