"""Logging in: a password with a second factor, a passkey alone, or an identity provider for accounts that exist.

Enters: what a browser sends. Leaves: a session, or a refusal before any password is hashed. Owns the failed logins.
"""
