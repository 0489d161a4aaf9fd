"""The operators' console: logins, roles, sessions, and what its pages may load."""
