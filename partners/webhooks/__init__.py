"""Webhooks: partners' endpoints, the outbox of messages, and their delivery by a process of its own."""
