"""The code that all apps share: API conventions, field types and access to chains. It owns no tables."""
